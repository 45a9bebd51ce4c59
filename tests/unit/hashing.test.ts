import { afterEach, expect, test, vi } from "vitest";
import { hashPassword, inTurn, verifyPassword } from "#lib/auth/hashing";

afterEach(() => vi.useRealTimers());

/** Work that ends when the test says so. */
function piece() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { begun: vi.fn(() => promise), resolve, reject };
}

test("at most two hashes run at once, and the next one begins when one has ended, also by an error", async () => {
  const pieces = Array.from({ length: 5 }, piece);
  const ends = pieces.map(({ begun }) => inTurn(begun).catch(String));
  const running = () => pieces.map(({ begun }) => begun.mock.calls.length);
  expect(running()).toEqual([1, 1, 0, 0, 0]);
  pieces[1]?.reject(new Error("broken"));
  await ends[1];
  await vi.waitFor(() => expect(running()).toEqual([1, 1, 1, 0, 0]));
  for (const { resolve } of pieces) resolve("done");
  expect(await Promise.all(ends)).toEqual(["done", "Error: broken", "done", "done", "done"]);
});

test("one that has waited for two seconds is refused, and leaves its place to nobody", async () => {
  vi.useFakeTimers();
  const [one, two, late] = [piece(), piece(), piece()];
  const ends = [one, two].map(({ begun }) => inTurn(begun));
  const refused = expect(inTurn(late.begun)).rejects.toMatchObject({ code: "overloaded", retryAfterSeconds: 2 });
  await vi.advanceTimersByTimeAsync(2001);
  await refused;
  expect(late.begun).not.toHaveBeenCalled();
  for (const { resolve } of [one, two]) resolve("done");
  await Promise.all(ends);
  expect(await inTurn(async () => "free again")).toBe("free again");
});

test("a hash is of its password alone", async () => {
  const hash = await hashPassword("correct horse battery");
  expect(await verifyPassword({ hash, password: "correct horse battery" })).toBe(true);
  expect(await verifyPassword({ hash, password: "correct horse batterY" })).toBe(false);
});
