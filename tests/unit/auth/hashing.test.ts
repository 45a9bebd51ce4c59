import { scryptSync } from "node:crypto";
import { hashPassword as hashEarlier } from "better-auth/crypto";
import { afterEach, expect, test, vi } from "vitest";
import { hashPassword, inTurn, isOutdated, verifyPassword } from "#lib/auth/passwords/hashing";
import { forRequest } from "#lib/core/current-request";

// A hash takes a core for 0.2 s, and much longer where there is none.
vi.setConfig({ testTimeout: 60_000 });
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
  await vi.waitFor(() => expect(running()).toEqual([1, 1, 0, 0, 0]));
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

test("networks take turns, so that any number of passwords of one of them delays another by one hash", async () => {
  const order: string[] = [];
  const { signal } = new AbortController();
  const hash = (address: string) =>
    forRequest({ signal, address }, () =>
      inTurn(async () => {
        order.push(address);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }),
    );
  const flood = ["192.0.2.1", "2001:db8:1:1::1", "2001:db8:1:2::1"].flatMap((address) => Array(10).fill(address));
  await Promise.all([...flood, "198.51.100.7"].map(hash));
  expect(order).toHaveLength(31);
  expect(order.indexOf("198.51.100.7")).toBeLessThan(6);
  // The two networks of one /48 have one turn together.
  expect(order.slice(0, 20).filter((address) => address === "192.0.2.1").length).toBeGreaterThanOrEqual(9);
});

let made: Promise<string> | undefined;
/** A hash at today's work, which takes a fifth of a second of a core: one for all tests. */
const today = () => {
  made ??= hashPassword("correct horse b\u00e4ttery");
  return made;
};

test("a hash is of its password alone, in each form that Unicode has for it", async () => {
  const hash = await today();
  expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{86}$/);
  expect(await verifyPassword({ hash, password: "correct horse ba\u0308ttery" })).toBe(true);
  expect(await verifyPassword({ hash, password: "correct horse b\u00e4tterY" })).toBe(false);
});

test("a hash says what it was made with, and one with less work stays valid and is to be renewed", async () => {
  const password = "correct horse battery";
  const earlier = await hashEarlier(password);
  expect([isOutdated(await today()), isOutdated(earlier)]).toEqual([false, true]);
  expect(await verifyPassword({ hash: earlier, password })).toBe(true);
  expect(await verifyPassword({ hash: earlier, password: "correct horse batterY" })).toBe(false);
  const key = scryptSync(password, Buffer.alloc(16), 64, { N: 1024, r: 8, p: 1 }).toString("base64url");
  const weaker = `$scrypt$ln=10,r=8,p=1$${Buffer.alloc(16).toString("base64url")}$${key}`;
  expect([isOutdated(weaker), await verifyPassword({ hash: weaker, password })]).toEqual([true, true]);
  expect(await verifyPassword({ hash: weaker.replace("p=1", "p=2"), password })).toBe(false);
});
