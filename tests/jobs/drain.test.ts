import { beforeEach, expect, test, vi } from "vitest";
import { pool } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { superviseQueues, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { drainQueues } from "#server/background/drain";
import { accept, entries, trace } from "../support/ingesting.ts";
import { refuse } from "../support/refusing.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from pgboss.job");
});

/** As if so many seconds had passed for the queue. */
const pass = (seconds: number) =>
  pool().query(
    `update pgboss.job set heartbeat_on = heartbeat_on - make_interval(secs => $1),
       start_after = start_after - make_interval(secs => $1)`,
    [seconds],
  );
const seesLost = async () => {
  await pool().query("update pgboss.queue set monitor_on = null, monitor_claim_on = null");
  await superviseQueues();
};

test("a drain ends at its deadline, reports it, and leaves the rest", async () => {
  const jobs = await Promise.all(Array.from({ length: 3 }, (_, n) => accept(userId, trace(`late-${n}`, "a"))));
  expect(await drainQueues(0)).toEqual({ processed: 0, drained: false });
  for (const jobId of jobs) expect((await getJob(userId, jobId)).status).toBe("queued");
  expect(await drainQueues(10)).toEqual({ processed: 3, drained: true });
});

test("a failed attempt puts the job back for a later call", async () => {
  const allow = await refuse("insert on trace");
  const jobId = await accept(userId, trace("later", "a"));
  expect(await drainQueues()).toMatchObject({ processed: 1 });
  await allow();
  expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 1 });
  expect(await entries(jobId)).toBe(1);
  await pass(60); // the pause before another attempt
  expect(await drainQueues()).toMatchObject({ processed: 1 });
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 2 });
});

test("a job whose process sends its heartbeat is not given to another one, however long it takes", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  try {
    const jobId = await accept(userId, trace("long", "a"));
    const taken = takeOne(queues.ingest, async () => {
      begun.resolve();
      await held.promise;
      await runJob({ userId, jobId });
    });
    await begun.promise;
    const heartbeat = async () =>
      (await pool().query("select heartbeat_on::text as at from pgboss.job where name = 'ingest'")).rows[0].at;
    for (let n = 0; n < 2; n += 1) {
      await pass(9);
      const before = await heartbeat();
      vi.advanceTimersByTime(3400);
      await expect.poll(heartbeat, { interval: 10 }).not.toBe(before);
      await seesLost();
      expect(await drainQueues()).toEqual({ processed: 0, drained: true });
    }
    held.resolve();
    expect(await taken).toBe(true);
    expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(await entries(jobId)).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("a job whose process sends no heartbeat any more is given to another one", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }); // which nothing advances
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  try {
    const jobId = await accept(userId, trace("lost", "a"));
    const lost = takeOne(queues.ingest, async () => {
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await pass(11);
    await seesLost();
    await pass(60); // the pause before another attempt
    expect(await drainQueues()).toMatchObject({ processed: 1 });
    expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1, messages: { written: 1 } });
    held.resolve();
    await lost;
  } finally {
    vi.useRealTimers();
  }
});

test("a job that fails at its last attempt ends as failed, keeps its upload, and holds up no other", async () => {
  await refuse("insert on trace", { when: "new.source_id = 'poison'" });
  const poison = await accept(userId, trace("poison", "a"));
  await pool().query("update ingest_job set attempts = attempts + 4 where id = $1", [poison]);
  const healthy = await accept(userId, trace("healthy", "a"));
  expect(await drainQueues()).toMatchObject({ processed: 2 });
  expect(await getJob(userId, healthy)).toMatchObject({ status: "succeeded" });
  expect(await getJob(userId, poison)).toMatchObject({
    status: "failed",
    attempts: 5,
    error: { code: "processing_failed" },
    messages: { written: 0 },
  });
  expect((await pool().query("select 1 from upload where job_id = $1", [poison])).rowCount).toBe(1);
});

test("an outage counts as no attempt, and the job is processed once it is over", async () => {
  const message = "could not extend file: No space left on device";
  const allow = await refuse("insert on trace", { message, code: "53100" });
  const jobId = await accept(userId, trace("patient", "a", "b"));
  for (let n = 0; n < 2; n += 1) {
    expect(await drainQueues()).toMatchObject({ processed: 1 });
    expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 0 });
    await pass(60);
  }
  await allow();
  expect(await drainQueues()).toMatchObject({ processed: 1 });
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1, messages: { written: 2 } });
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
