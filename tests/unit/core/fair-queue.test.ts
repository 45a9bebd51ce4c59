import { afterAll, describe, expect, test } from "vitest";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { DecodeThread, endThreads, withThread } from "#lib/ingest/decode/thread-pool";

afterAll(endThreads);

/** Takes slots and records their order; `end` releases a user's oldest slot. */
function watch(turns: FairQueue) {
  const order: string[] = [];
  const held: { user: string; giveBack: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    order,
    async ask(...users: string[]) {
      for (const user of users) {
        turns.take(user).then((giveBack) => {
          order.push(user);
          held.push({ user, giveBack });
        });
      }
      await settle();
    },
    async end(user: string) {
      const at = held.findIndex((one) => one.user === user);
      if (at === -1) throw new Error(`${user} holds no place`);
      held.splice(at, 1)[0]?.giveBack();
      await settle();
    },
  };
}

describe("two slots", () => {
  test("may both be held by one user while no other user waits", async () => {
    const line = watch(new FairQueue(2));
    await line.ask("ada", "ada", "ada");
    expect(line.order).toEqual(["ada", "ada"]);
    await line.end("ada");
    expect(line.order).toEqual(["ada", "ada", "ada"]);
  });

  test("go to a later user before any further caller of the user who holds both", async () => {
    const line = watch(new FairQueue(2));
    await line.ask(..."aaaaaa", "b");
    await line.end("a");
    expect(line.order.join("")).toBe("aab");
    await line.end("a");
    expect(line.order.join("")).toBe("aaba");
    await line.end("b");
    expect(line.order.join("")).toBe("aabaa");
  });

  test("are never both held by one user while another waits, once each has one", async () => {
    const line = watch(new FairQueue(2));
    await line.ask(..."abaaabbb");
    await line.end("b");
    expect(line.order.join("")).toBe("abb");
    await line.end("a");
    await line.end("a");
    expect(line.order.join("")).toBe("abbaa");
  });

  test("rotate among users who hold as many, however many callers each has", async () => {
    const line = watch(new FairQueue(2));
    await line.ask(..."xx", ..."aaaa", ..."bb", "c");
    await line.end("x");
    await line.end("x");
    for (const user of "abcab") await line.end(user);
    expect(line.order.slice(2).join("")).toBe("abcabaa");
  });

  test("are free again when all callers have ended", async () => {
    const line = watch(new FairQueue(2));
    await line.ask(..."abc");
    for (const user of "abc") await line.end(user);
    await line.ask(..."ddd");
    expect(line.order.join("")).toBe("abcdd");
  });
});

describe("three slots of which a user may hold two", () => {
  test("are held by two users, however many callers one of them has", async () => {
    const line = watch(new FairQueue(3, { perUser: 2 }));
    await line.ask(..."aaaa", "b");
    expect(line.order.join("")).toBe("aab");
    await line.ask("b", "b");
    expect(line.order.join("")).toBe("aab");
    await line.end("a");
    await line.end("a");
    expect(line.order.join("")).toBe("aabab");
    await line.end("b");
    expect(line.order.join("")).toBe("aababa");
  });

  test("leave one free that a waiting user may not take", async () => {
    const line = watch(new FairQueue(3, { perUser: 2 }));
    await line.ask(..."aaa");
    expect(line.order.join("")).toBe("aa");
    await line.end("a");
    expect(line.order.join("")).toBe("aaa");
  });
});

describe("six slots of which three are kept for users who hold none", () => {
  test("serve five users at once, however many callers the first ones have", async () => {
    const line = watch(new FairQueue(6, { perUser: 2, kept: 3 }));
    await line.ask(..."aaabbbccc", ..."de");
    expect(line.order.join("")).toBe("aabcde");
    await line.end("e");
    expect(line.order.join("")).toBe("aabcde");
    await line.ask("f");
    expect(line.order.join("")).toBe("aabcdef");
  });

  test("let one user hold two, and again after the others have ended", async () => {
    const line = watch(new FairQueue(6, { perUser: 2, kept: 3 }));
    await line.ask(..."bcde", ..."aaa");
    expect(line.order.join("")).toBe("bcdea");
    for (const user of "bcd") await line.end(user);
    expect(line.order.join("")).toBe("bcdeaa");
    await line.end("a");
    expect(line.order.join("")).toBe("bcdeaaa");
  });
});

test("a user's kinds of callers take turns in what the user gets, and count as one user", async () => {
  const queue = new FairQueue(2, { perUser: 1 });
  const order: string[] = [];
  const held: (() => void)[] = [];
  const ask = (user: string, kind: string) =>
    queue.take(user, undefined, kind).then((giveBack) => {
      order.push(user + kind);
      held.push(giveBack);
    });
  for (const kind of "1112") ask("a", kind);
  ask("b", "1");
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(order).toEqual(["a1", "b1"]);
  expect([queue.countWaiting("a", "1"), queue.countWaiting("a", "2")]).toEqual([2, 1]);
  for (const [turn, next] of [
    [0, "a1"],
    [2, "a2"],
    [3, "a1"],
  ] as const) {
    held[turn]?.();
    await settle();
    expect(order.at(-1)).toBe(next);
  }
});

test("a caller who gives up while waiting leaves the queue, and holds nothing", async () => {
  const queue = new FairQueue(1);
  const release = await queue.take("a");
  const givingUp = new AbortController();
  const waiting = queue.take("b", givingUp.signal);
  const last = queue.take("b");
  expect(queue.countWaiting("b")).toBe(2);
  givingUp.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(queue.take("c", givingUp.signal)).rejects.toThrow("gone");
  expect(queue.countWaiting("b")).toBe(1);
  release();
  (await last)();
  (await queue.take("c"))();
});

test("a slot is given back once, however often its release is called", async () => {
  const queue = new FairQueue(1);
  const release = await queue.take("a");
  release();
  release();
  await queue.take("b");
  const waiting = queue.take("c", AbortSignal.timeout(20));
  await expect(waiting).rejects.toThrow();
});

test("a user with many bodies delays another user by one of them only", async () => {
  const order: string[] = [];
  const read = (userId: string) =>
    withThread(userId, async () => {
      order.push(userId);
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
  await Promise.all([..."aaaaab"].map(read));
  expect(order.join("")).toBe("aabaaa");
});

test("work that throws releases its thread", async () => {
  for (let n = 0; n < 3; n++)
    await expect(withThread("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withThread("a", async () => "read")).toBe("read");
});

test("a thread that times out is replaced, and its operation may be retried", async () => {
  const thread = new DecodeThread(1);
  const body = new Uint8Array(8 << 20);
  const input = { body, encoding: "identity", maxBytes: body.byteLength } as const;
  await expect(thread.call("judge", input)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 30 });
  expect(thread.broken).toBe(true);
});
