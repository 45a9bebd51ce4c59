import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { superviseQueues, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { drainQueues } from "#lib/server/drain";
import { accept, entries, trace } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from pgboss.job");
});

test("a drain ends at its deadline, reports it, and leaves the rest", async () => {
  const jobs = await Promise.all(Array.from({ length: 3 }, (_, n) => accept(userId, trace(`late-${n}`, "a"))));
  expect(await drainQueues(0)).toEqual({ processed: 0, drained: false });
  for (const jobId of jobs) expect((await getJob(userId, jobId)).status).toBe("queued");
  expect(await drainQueues(10)).toEqual({ processed: 3, drained: true });
});

test("a failed attempt puts the job back for a later call", async () => {
  await pool().query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`);
  await pool().query("create trigger refuse before insert on trace for each row execute function refuse()");
  const jobId = await accept(userId, trace("later", "a"));
  expect(await drainQueues()).toMatchObject({ processed: 1 });
  await pool().query("drop trigger refuse on trace");
  expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 1 });
  expect(await entries(jobId)).toBe(1);
  for (let n = 0; n < 20 && (await drainQueues()).processed === 0; n += 1) await sleep(250);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 2 });
});

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

test("a step that fails is told at the end, and stops none of the others", async () => {
  const jobId = await accept(userId, trace("beside", "a"));
  await pool().query("delete from server_setting where key = 'housekeeping'");
  await pool().query("alter table project rename to elsewhere");
  await pool().query("alter table masking_task rename to elsewhere_too");
  try {
    await expect(drainQueues(10)).rejects.toThrow(/^steps failed: .*maskStored/);
  } finally {
    await pool().query("alter table elsewhere rename to project");
    await pool().query("alter table elsewhere_too rename to masking_task");
  }
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded" });
  const { rows } = await pool().query(
    `select (select bool_and(not search_pending) from trace) as indexed,
       exists (select from server_setting where key = 'housekeeping') as housekept`,
  );
  expect(rows).toEqual([{ indexed: true, housekept: true }]);
  expect(await drainQueues(10)).toEqual({ processed: 0, drained: true });
});
