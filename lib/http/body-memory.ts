// Memory that the bodies of uploads are received in, used again and again. V8 collects the whole heap (Next's 57 MB, which
// take 25 ms of both cores) as soon as some buffers of a body's size have come together; this memory it does not count. Nor
// does the machine have to find 18 MB of new pages for each upload.
import "server-only";

const MiB = 1 << 20;
/** What a lent piece of memory holds. Only as much of it as a body ever took is the machine's. */
export const blockBytes = 32 * MiB;
/** Below this size a buffer of its own costs nothing. */
const minBytes = MiB;
/** Who finds all of them lent gets memory of its own. */
const maxBlocks = 4;

const globals = globalThis as typeof globalThis & { spoorBodyBlocks?: { idle: SharedArrayBuffer[]; made: number } };

/**
 * Lends memory for a body for the time of `work`. Whoever still reads it afterwards reads another body.
 *
 * @param bytes how many the body has, where that is known.
 * @param work gets undefined where the body is too small, too large, or all memory is lent.
 */
export async function withBlock<T>(
  bytes: number | undefined,
  work: (block: SharedArrayBuffer | undefined) => Promise<T>,
): Promise<T> {
  globals.spoorBodyBlocks ??= { idle: [], made: 0 };
  const blocks = globals.spoorBodyBlocks;
  const isFit = bytes !== undefined && bytes >= minBytes && bytes <= blockBytes;
  const block = isFit ? (blocks.idle.pop() ?? make(blocks)) : undefined;
  try {
    return await work(block);
  } finally {
    if (block) blocks.idle.push(block);
  }
}

function make(blocks: { made: number }): SharedArrayBuffer | undefined {
  if (blocks.made === maxBlocks) return undefined;
  const block = new SharedArrayBuffer(blockBytes);
  blocks.made += 1;
  return block;
}
