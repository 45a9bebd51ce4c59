import { expect, test } from "vitest";
import { free } from "#lib/core/memory";

test("a buffer's own memory is freed, including what surrounds a view", () => {
  const whole = Buffer.allocUnsafeSlow(1000);
  const part = Buffer.allocUnsafeSlow(1_000_000).subarray(10, 20);
  free(whole);
  free(part);
  expect([whole.buffer.byteLength, part.buffer.byteLength]).toEqual([0, 0]);
});

test("freeing memory twice does nothing", () => {
  const bytes = Buffer.allocUnsafeSlow(1000);
  free(bytes);
  free(bytes);
  expect(bytes.byteLength).toBe(0);
});

test("the pool of small buffers and memory shared by threads are not freed", () => {
  const [small, beside] = [Buffer.from("small"), Buffer.from("beside it")];
  const shared = Buffer.from(new SharedArrayBuffer(1_000_000));
  free(small);
  free(shared);
  expect(small.buffer).toBe(beside.buffer);
  expect([small.toString(), beside.toString(), shared.byteLength]).toEqual(["small", "beside it", 1_000_000]);
});
