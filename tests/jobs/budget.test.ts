import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admitted, QueueLengths } from "#lib/ingest/accept/admission";
import { limits } from "#lib/limits";
import { freshDatabase } from "../support/database.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const { maxInFlightBytes } = limits.ingest;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterSeconds: 5 });

/** Starts to receive a body. @returns a function that ends it */
async function receive(userId: string, bytes: number) {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const whole = admitted(userId, bytes, () => {
    begun.resolve();
    return ended.promise;
  });
  await Promise.race([begun.promise, whole]);
  return async () => {
    ended.resolve();
    await whole;
  };
}

test("one sender may hold half of the bytes in flight, and others the rest until it is used up", async () => {
  const [ada, bob, eve] = [randomUUID(), randomUUID(), randomUUID()];
  const ends = [await receive(ada, maxInFlightBytes / 4), await receive(ada, maxInFlightBytes / 4)];
  await expect(receive(ada, 1)).rejects.toThrow(overloaded);
  ends.push(await receive(bob, maxInFlightBytes / 2));
  await expect(receive(eve, 1)).rejects.toThrow(overloaded);
  await ends.pop()?.();
  await expect(receive(ada, 1)).rejects.toThrow(overloaded);
  ends.push(await receive(eve, maxInFlightBytes / 2));
  for (const end of ends) await end();
  await (await receive(ada, maxInFlightBytes / 2))();
});

test("a body that fails releases its bytes", async () => {
  const ada = randomUUID();
  const fail = () => Promise.reject(new Error("broken off"));
  for (let n = 0; n < 5; n += 1) await expect(admitted(ada, maxInFlightBytes / 2, fail)).rejects.toThrow("broken off");
  await (await receive(ada, maxInFlightBytes / 2))();
});

test("a body larger than half of the budget is accepted while nothing else is in flight", async () => {
  const ada = randomUUID();
  const end = await receive(ada, maxInFlightBytes);
  await expect(receive(randomUUID(), 1)).rejects.toThrow(overloaded);
  await end();
});

describe("a sender's queue", () => {
  test("is counted in the database at most once a second, with the uploads admitted since", async () => {
    let [now, counts] = [0, 0];
    const lengths = new QueueLengths(
      async () => {
        counts += 1;
        return 8;
      },
      () => now,
    );
    expect([await lengths.add("ada", 10), await lengths.add("ada", 10)]).toEqual([true, true]);
    expect(counts).toBe(1);
    expect(await lengths.add("ada", 10)).toBe(false);
    now = 1001;
    expect(await lengths.add("ada", 10)).toBe(true);
    expect(counts).toBe(2);
  });

  test("is forgotten after a second: memory does not grow with the number of senders", async () => {
    let now = 0;
    const lengths = new QueueLengths(
      async () => 0,
      () => now,
    );
    for (let sender = 0; sender < 5000; sender += 1) {
      now += 1;
      await lengths.add(`sender ${sender}`, 10);
    }
    expect(lengths.size).toBeLessThanOrEqual(1000);
    now += 1000;
    await lengths.add("the last", 10);
    expect(lengths.size).toBe(1);
  });
});
