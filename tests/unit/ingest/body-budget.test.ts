import { expect, test } from "vitest";
import type { Room } from "#lib/http/body";
import { BodyBudget } from "#lib/ingest/accept/body-budget";

const MiB = 1 << 20;
const maxBytes = 512 * MiB;
const bodyBytes = 64 * MiB;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterSeconds: 5 });

/** A budget whose clock stands until `pass` is called. */
function makeBudget() {
  let now = 0;
  const budget = new BodyBudget(maxBytes, () => now);

  /** Begins a body of a sender. @returns what sends more of it, its end, and how it was answered */
  async function begin(userId: string, most = bodyBytes) {
    const [begun, done] = [Promise.withResolvers<Room>(), Promise.withResolvers<void>()];
    const answer = budget.withRoom(userId, most, async (room) => {
      begun.resolve(room);
      await Promise.race([done.promise, room.ended]);
      return "stored";
    });
    answer.catch(begun.reject);
    const room = await begun.promise;
    let sent = 0;
    return {
      room,
      answer,
      send: (bytes: number) => {
        sent += bytes;
        room.grow(sent);
      },
      end: async () => {
        done.resolve();
        return answer;
      },
    };
  }
  return { begin, pass: (seconds: number) => (now += seconds * 1000) };
}

test("a body holds what has arrived of it, not what it may become", async () => {
  const { begin } = makeBudget();
  const dripping = await Promise.all(["ada", "bob"].flatMap((name) => Array.from({ length: 4 }, () => begin(name))));
  for (const { send } of dripping) send(1);
  const eve = await begin("eve");
  eve.send(bodyBytes);
  expect(await eve.end()).toBe("stored");
  for (const { end } of dripping) expect(await end()).toBe("stored");
});

test("one sender's bodies under way may become half of the budget, or one that is larger", async () => {
  const { begin } = makeBudget();
  const own = await Promise.all([1, 2, 3, 4].map(() => begin("ada")));
  await expect(begin("ada", 1)).rejects.toThrow(overloaded);
  for (const { end } of own) await end();
  const large = await begin("ada", maxBytes);
  large.send(maxBytes);
  await expect(begin("ada", 1)).rejects.toThrow(overloaded);
});

test("while the budget is used up, the slowest of those with more than their part is ended for a faster one", async () => {
  const { begin, pass } = makeBudget();
  const held = await Promise.all(["ada", "bob"].flatMap((name) => Array.from({ length: 4 }, () => begin(name))));
  for (const { send } of held.slice(0, 7)) send(bodyBytes - MiB - 2000);
  pass(20);
  for (const { send } of held.slice(0, 6)) send(1000);
  pass(10);
  for (const { send } of held.slice(0, 6)) send(1000);
  const eve = await begin("eve");
  for (let sent = 0; sent < bodyBytes; sent += MiB) eve.send(MiB);
  await expect(held[6]?.answer).rejects.toThrow(overloaded);
  expect(await eve.end()).toBe("stored");
  for (const { end } of held.slice(0, 6)) expect(await end()).toBe("stored");
});

test("a slow body of a sender with less than its part is not ended for the fast ones of another", async () => {
  const { begin, pass } = makeBudget();
  const slow = await begin("eve");
  slow.send(20 * MiB);
  pass(60);
  const fast = await Promise.all(["ada", "bob"].flatMap((name) => Array.from({ length: 4 }, () => begin(name))));
  const answers = Promise.allSettled(fast.map(({ answer }) => answer));
  for (const { send } of fast) {
    try {
      send(bodyBytes);
    } catch (error) {
      expect(error).toEqual(overloaded);
    }
  }
  slow.send(10 * MiB);
  expect(await slow.end()).toBe("stored");
  for (const { end } of fast) end().catch(() => {});
  const refused = (await answers).flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(refused).toEqual([overloaded, overloaded]);
});

test("a part of the budget is kept for senders with little, while complete bodies are being stored", async () => {
  const { begin } = makeBudget();
  const stored = await Promise.all(["ada", "bob", "cleo"].map((name) => begin(name, 149 * MiB)));
  for (const { send, room } of stored) {
    send(149 * MiB);
    room.complete();
  }
  const eve = await begin("eve");
  eve.send(8 * MiB);
  expect(() => eve.send(MiB)).toThrow(overloaded);
  await expect(eve.answer).rejects.toThrow(overloaded);
  expect(await (await begin("eve", 2000)).end()).toBe("stored");
  for (const { end } of stored) expect(await end()).toBe("stored");
});
