import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { superviseQueues, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { drainQueues } from "#server/background/drain";
import { accept, entries, trace } from "../../support/ingesting.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();

test("a job that takes longer than the heartbeat timeout is not given to another process", async () => {
  const jobId = await accept(userId, trace("long", "a"));
  const taken = takeOne(queues.ingest, async () => {
    await sleep(14_000);
    await runJob({ userId, jobId });
  });
  for (let n = 0; n < 12; n += 1) {
    await sleep(1000);
    await superviseQueues();
    expect(await drainQueues()).toEqual({ processed: 0, drained: true });
  }
  expect(await taken).toBe(true);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(await entries(jobId)).toBe(0);
});
