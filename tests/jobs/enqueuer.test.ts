import { expect, test } from "vitest";
import type { Queryable } from "#lib/db/client";
import { env } from "#lib/env";
import { enqueue, makeWorkerBoss, prepareQueue, queues } from "#lib/queue/boss";
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

test("a worker's connections keep the options that the operator gave, and do not wait for the disk", async () => {
  const url = new URL(env().DATABASE_URL ?? "");
  url.searchParams.set("options", "-c work_mem=5MB");
  const boss = makeWorkerBoss(url.href);
  await boss.start();
  const { rows } = await boss
    .getDb()
    .executeSql("select current_setting('work_mem') as memory, current_setting('synchronous_commit') as commit");
  await boss.stop({ graceful: false });
  expect(rows).toEqual([{ memory: "5MB", commit: "off" }]);
});
