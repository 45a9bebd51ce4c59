import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { admitted, QueueLengths } from "#lib/ingest/accept/admission";
import { receiveBatch } from "#lib/ingest/accept/request";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId: ada } = await provideOwner();
const password = "correct horse battery";
const [bob, eve] = await Promise.all(
  ["bob", "eve"].map((name) => makeUser({ name, email: `${name}@example.org`, password })),
);

const { maxInFlightBytes } = limits.ingest;
const overloaded = expect.objectContaining({ code: "overloaded", retryAfterSeconds: 5 });

/** Starts to receive a body of which nothing arrives. @returns a function that ends it */
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

/** An upload without a length, of which one byte has arrived. @returns what breaks it off, once it is admitted */
async function drip(userId: string) {
  const admittedOnce = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      pull: (given) => {
        given.enqueue(Buffer.from("{"));
        admittedOnce.resolve();
        return new Promise(() => {}); // nothing more comes
      },
    },
    { highWaterMark: 0 },
  );
  const answer = receiveBatch(upload(body), { userId, machine: "test" });
  await Promise.race([admittedOnce.promise, answer]);
  return async () => {
    controller?.error(new Error("broken off"));
    await expect(answer).rejects.toThrow(expect.objectContaining({ code: "invalid_request" }));
  };
}

const upload = (body: string | ReadableStream) =>
  new Request("http://localhost/api/ingest", {
    ...{ method: "POST", headers: { "Content-Type": "application/json" }, body, duplex: "half" },
  } as RequestInit);

test("eight unfinished uploads of two members leave room for a third's", async () => {
  const ends = [];
  for (const userId of [ada, bob as string]) for (let n = 0; n < 4; n += 1) ends.push(await drip(userId));
  await expect(drip(ada)).rejects.toThrow(overloaded);
  const jobId = await receiveBatch(upload(JSON.stringify({ traces: [] })), { userId: eve as string, machine: "test" });
  expect(jobId).toBeTruthy();
  for (const end of ends) await end();
});

test("one sender's uploads under way may become half of the bytes in flight", async () => {
  const sender = randomUUID();
  const ends = [await receive(sender, maxInFlightBytes / 4), await receive(sender, maxInFlightBytes / 4)];
  await expect(receive(sender, 1)).rejects.toThrow(overloaded);
  for (const end of ends) await end();
  await (await receive(sender, maxInFlightBytes / 2))();
});

test("a body that fails releases its bytes", async () => {
  const sender = randomUUID();
  const fail = () => Promise.reject(new Error("broken off"));
  for (let n = 0; n < 5; n += 1)
    await expect(admitted(sender, maxInFlightBytes / 2, fail)).rejects.toThrow("broken off");
  await (await receive(sender, maxInFlightBytes / 2))();
});

test("a body larger than half of the budget is accepted while its sender has no other in flight", async () => {
  const sender = randomUUID();
  const end = await receive(sender, maxInFlightBytes);
  await expect(receive(sender, 1)).rejects.toThrow(overloaded);
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

  test("has a place that goes up while any is left, so that its uploads stay in their order", async () => {
    let [now, queued] = [0, 0];
    const lengths = new QueueLengths(
      async () => queued,
      () => now,
    );
    const places: number[] = [];
    for (queued of [0, 5, 2, 9, 0, 1]) {
      now += 2000;
      await lengths.add("ada", 100);
      places.push(lengths.getPlace("ada"));
    }
    expect(places).toEqual([0, 5, 5, 9, 0, 1]);
    expect(lengths.getPlace("bob")).toBe(0);
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
