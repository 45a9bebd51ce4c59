import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { releaseAll } from "#lib/core/memory";
import { rememberArrival } from "#lib/http/arrival";
import { withBody } from "#lib/http/body";
import { blockBytes, withBlock } from "#lib/http/body-memory";
import { requestIdHeader } from "#lib/http/headers";

const MiB = 1 << 20;
const lent = (bytes: number | undefined) => withBlock(bytes, async (block) => block);
/** So many blocks that are in use at a time. */
const borrow = (count: number): Promise<(SharedArrayBuffer | undefined)[]> =>
  withBlock(2 * MiB, async (block) => [block, ...(count > 1 ? await borrow(count - 1) : [])]);

test("a block is reused, also after a failure", async () => {
  const first = await lent(2 * MiB);
  expect(first?.byteLength).toBe(blockBytes);
  const failing = withBlock(2 * MiB, async () => {
    throw new Error("refused");
  });
  await expect(failing).rejects.toThrow("refused");
  expect(await lent(blockBytes)).toBe(first);
});

test("bodies that are small, too large or of unknown length get no block", async () => {
  for (const bytes of [undefined, 0, MiB - 1, blockBytes + 1]) expect(await lent(bytes)).toBeUndefined();
});

test("no block is used twice at a time, and a fifth body gets none", async () => {
  const blocks = await borrow(5);
  expect(new Set(blocks).size).toBe(5);
  expect(blocks[4]).toBeUndefined();
});

test("blocks are given back while the process has nothing to do, but for those in use", async () => {
  const former = await lent(2 * MiB);
  await withBlock(2 * MiB, async (used) => {
    expect(used).toBe(former);
    await releaseAll();
    expect(await lent(2 * MiB)).not.toBe(used);
  });
  await releaseAll();
  const blocks = await borrow(4);
  expect(blocks).not.toContain(former);
  expect(blocks).not.toContain(undefined);
});

/** A request whose body is still on its way, by each way that one arrives. */
const arriving = {
  "Node's request": (message: PassThrough, headers: Record<string, string>) => {
    rememberArrival("slow", message as unknown as IncomingMessage);
    return new Request("http://localhost/", { method: "POST", headers: { ...headers, [requestIdHeader]: "slow" } });
  },
  "a web stream": (message: PassThrough, headers: Record<string, string>) => {
    const body = PassThrough.toWeb(message).readable;
    return new Request("http://localhost/", { method: "POST", headers, body, duplex: "half" } as RequestInit);
  },
};

test.each(Object.entries(arriving))(
  "what comes of a body that was given up on is in no other's (%s)",
  async (_, by) => {
    const headers = { "content-length": String(2 * MiB) };
    const message = new PassThrough();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const slow = withBody(by(message, headers), 4 * MiB, async () => {}).catch((error) => error.code);
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect(await slow).toBe("request_timeout");
    const body = Buffer.alloc(2 * MiB, "b");
    const other = new Request("http://localhost/", { method: "POST", headers, body });
    const isItsOwn = await withBody(other, 4 * MiB, async (received) => {
      message.write(Buffer.alloc(1000, "a"));
      await sleep(50);
      return received.equals(body);
    });
    expect(isItsOwn).toBe(true);
  },
);
