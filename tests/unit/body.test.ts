import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { readBody, withBody } from "#lib/http/body";
import { limits } from "#lib/limits";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const MiB = 1 << 20;

test("a body in chunks of one byte takes no more memory than its bytes", async () => {
  const count = 200_000;
  let sent = 0;
  let atEnd = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent < count) return controller.enqueue(Uint8Array.of(97 + (sent++ % 26)));
      atEnd = memoryInUse();
      controller.close();
    },
  });
  const request = new Request("http://localhost/", { method: "POST", body, duplex: "half" } as RequestInit);
  const before = memoryInUse();
  const read = await readBody(request, 64 * MiB);
  expect(read.byteLength).toBe(count);
  expect(read.subarray(0, 28).toString()).toBe("abcdefghijklmnopqrstuvwxyzab");
  expect(atEnd - before).toBeLessThan(4 * MiB);
});

/** A request whose body comes as it is given to `send`. */
function openRequest(bytes: number) {
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      sink = controller;
    },
  });
  const headers = { "Content-Length": String(bytes) };
  const request = new Request("http://localhost/", { method: "POST", headers, body, duplex: "half" } as RequestInit);
  return { request, send: (chunk: Uint8Array) => sink?.enqueue(chunk), end: () => sink?.close() };
}

test("what still comes of a body that was given up on is not written into another's memory", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  try {
    const [stalled, whole] = [openRequest(2 * MiB), openRequest(2 * MiB)];
    const refused = expect(withBody(stalled.request, 64 * MiB, async () => {})).rejects.toMatchObject({
      code: "request_timeout",
    });
    stalled.send(Buffer.alloc(MiB, "a"));
    await nextTurn();
    await vi.advanceTimersByTimeAsync((limits.body.idleSeconds + 2) * 1000);
    await refused;
    whole.send(Buffer.alloc(2 * MiB, "b"));
    whole.end();
    const text = await withBody(whole.request, 64 * MiB, async (body) => {
      stalled.send(Buffer.alloc(MiB, "a"));
      await nextTurn();
      await nextTurn();
      return body.toString("latin1");
    });
    expect(text === "b".repeat(2 * MiB)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
