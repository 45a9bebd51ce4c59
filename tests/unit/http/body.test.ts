import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { readBody } from "#lib/http/body";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const MiB = 1 << 20;

test("a body in chunks of one byte takes no more memory than its bytes", async () => {
  const count = 100_000;
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
