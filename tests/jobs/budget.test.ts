import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admitted } from "#lib/ingest/accept/admission";
import { limits } from "#lib/limits";
import { freshDatabase } from "../support/database.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const { inFlightBytes } = limits.ingest;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterSeconds: 5 });

/** Begins to receive a body, and goes on until it is told to end. */
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

test("one sender holds half of the bytes in flight at most, and others get the rest until it is used up", async () => {
  const [ada, bob, eve] = [randomUUID(), randomUUID(), randomUUID()];
  const ends = [await receive(ada, inFlightBytes / 4), await receive(ada, inFlightBytes / 4)];
  await expect(receive(ada, 1)).rejects.toThrow(overloaded);
  ends.push(await receive(bob, inFlightBytes / 2));
  await expect(receive(eve, 1)).rejects.toThrow(overloaded);
  await ends.pop()?.();
  await expect(receive(ada, 1)).rejects.toThrow(overloaded);
  ends.push(await receive(eve, inFlightBytes / 2));
  for (const end of ends) await end();
  await (await receive(ada, inFlightBytes / 2))();
});

test("a body that fails gives its bytes back", async () => {
  const ada = randomUUID();
  const fail = () => Promise.reject(new Error("broken off"));
  for (let n = 0; n < 5; n += 1) await expect(admitted(ada, inFlightBytes / 2, fail)).rejects.toThrow("broken off");
  await (await receive(ada, inFlightBytes / 2))();
});

test("a body larger than half of the budget is taken while nothing else is received", async () => {
  const ada = randomUUID();
  const end = await receive(ada, inFlightBytes);
  await expect(receive(randomUUID(), 1)).rejects.toThrow(overloaded);
  await end();
});
