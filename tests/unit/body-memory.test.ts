import { expect, test } from "vitest";
import { blockBytes, withBlock } from "#lib/http/body-memory";

const MiB = 1 << 20;
const lent = (bytes: number | undefined) => withBlock(bytes, async (block) => block);

test("memory is lent again, also after a failure", async () => {
  const first = await lent(2 * MiB);
  expect(first?.byteLength).toBe(blockBytes);
  const failing = withBlock(2 * MiB, async () => {
    throw new Error("refused");
  });
  await expect(failing).rejects.toThrow("refused");
  expect(await lent(blockBytes)).toBe(first);
});

test("memory is not lent for bodies that are small, too large or of unknown length", async () => {
  for (const bytes of [undefined, 0, MiB - 1, blockBytes + 1]) expect(await lent(bytes)).toBeUndefined();
});

test("nobody is lent what another has, and the last has none", async () => {
  const blocks: (SharedArrayBuffer | undefined)[] = [];
  const borrow = (more: number): Promise<void> =>
    withBlock(2 * MiB, async (block) => {
      blocks.push(block);
      if (more > 1) await borrow(more - 1);
    });
  await borrow(5);
  expect(new Set(blocks).size).toBe(5);
  expect(blocks[4]).toBeUndefined();
});
