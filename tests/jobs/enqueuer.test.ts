import { expect, test } from "vitest";
import type { Queryable } from "#lib/db/client";
import { enqueue, prepareQueue, queues } from "#lib/queue";
import { provideOwner } from "../support/server.ts";

await provideOwner();

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

test("enqueueing that fails leaves no instance of the queue behind with its timers", async () => {
  const broken = { query: () => Promise.reject(new Error("Connection terminated")) } as unknown as Queryable;
  await prepareQueue();
  const before = timers();
  for (let round = 0; round < 5; round += 1) {
    const failing = () => enqueue(broken, queues.ingest, [{}]).catch((error: Error) => error.message);
    expect(await Promise.all([failing(), failing()])).toEqual(Array(2).fill("Connection terminated"));
    await prepareQueue();
  }
  await expect.poll(timers).toBeLessThanOrEqual(before + 1); // the polling has one of its own
});
