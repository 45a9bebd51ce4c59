// New buffers of this size make V8 collect its whole heap after a few uploads.
import "server-only";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { atRest } from "#lib/core/memory";

const MiB = 1 << 20;
export const blockBytes = 32 * MiB;
const minBytes = MiB;
const maxBlocks = 4;

type Blocks = { idle: SharedArrayBuffer[]; made: number };

/** The next body overwrites the block. @param work gets undefined if the body fits no block, or all are in use */
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
