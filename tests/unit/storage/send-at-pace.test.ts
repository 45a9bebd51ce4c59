import { expect, test } from "vitest";
import { sendAtPace } from "#lib/storage/bounded-read";

const bytes = new Uint8Array(300_000).map((_, at) => at);
const seconds = 0.01;

/** A sending, how often its end was told, and a promise of it. */
function send(isAwaited: () => boolean) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const told = { ends: 0 };
  const onEnd = () => {
    told.ends += 1;
    resolve();
  };
  return { told, ended, stream: sendAtPace(bytes, { isAwaited, onEnd, seconds }) };
}

test("a client that takes nothing keeps its place until somebody waits, and gets no more then", async () => {
  let asked = 0;
  const { told, ended, stream } = send(() => ++asked > 3);
  await ended;
  expect(asked).toBe(4);
  await expect(new Response(stream).arrayBuffer()).rejects.toThrow("too slowly");
  expect(told.ends).toBe(1);
});

test("a client that takes all, or goes, gives its place back once", async () => {
  const whole = send(() => true);
  expect(new Uint8Array(await new Response(whole.stream).arrayBuffer())).toEqual(bytes);
  const gone = send(() => true);
  await gone.stream.cancel();
  expect([whole.told.ends, gone.told.ends]).toEqual([1, 1]);
});
