// Reused memory for the bodies of uploads. New buffers of that size make V8 collect its whole heap (Next's 57 MB take 25 ms
// of both cores) after a few uploads; shared memory does not count there, and its pages are mapped already.
import "server-only";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { atRest } from "#lib/memory";

const MiB = 1 << 20;
/** The size of a block. Only pages that a body ever used are resident. */
export const blockBytes = 32 * MiB;
/** Smaller bodies get a buffer of their own, which costs nothing measurable. */
const minBytes = MiB;
/** Where all are in use, a body gets a new buffer. */
const maxBlocks = 4;

type Blocks = { idle: SharedArrayBuffer[]; made: number };

/**
 * Runs `work` with a block for a body. The block must not be read afterwards: the next body overwrites it.
 *
 * @param bytes the body's declared length, if known.
 * @param work gets undefined where the body is too small or too large for a block, or all blocks are in use.
 */
export async function withBlock<T>(
  bytes: number | undefined,
  work: (block: SharedArrayBuffer | undefined) => Promise<T>,
): Promise<T> {
  const blocks = oncePerProcess("blocks of bodies", makeBlocks);
  const isFit = bytes !== undefined && bytes >= minBytes && bytes <= blockBytes;
  const block = isFit ? (blocks.idle.pop() ?? make(blocks)) : undefined;
  try {
    return await work(block);
  } finally {
    if (block) blocks.idle.push(block);
  }
}

/** No blocks; those that are idle are given back while the process has nothing to do. */
function makeBlocks(): Blocks {
  const blocks: Blocks = { idle: [], made: 0 };
  atRest(() => {
    blocks.made -= blocks.idle.length;
    blocks.idle = [];
  });
  return blocks;
}

function make(blocks: Blocks): SharedArrayBuffer | undefined {
  if (blocks.made === maxBlocks) return undefined;
  const block = new SharedArrayBuffer(blockBytes);
  blocks.made += 1;
  return block;
}
