import { beforeEach, expect, test } from "vitest";
import { requiredEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { migrate } from "#lib/db/migrate";
import { getJob } from "#lib/ingest/jobs";
import { reconcileJobs, undoFuture } from "#lib/ingest/process/reconcile";
import { runJob } from "#lib/ingest/process/run-job";
import { replayJob } from "#lib/ingest/replay";
import { takeOne } from "#lib/queue/enqueuer";
import { installQueues, queues } from "#lib/queue/queues";
import { drainQueues } from "#server/background/drain";
import { accept, acceptFailed, entries, trace } from "../support/ingesting.ts";
import { refuse } from "../support/refusing.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from pgboss.job");
});

const loseQueue = () => pool().query("delete from pgboss.job");

test("queued and running jobs without entries are enqueued once, and then processed", async () => {
  const waiting = await accept(userId, trace("waiting", "a"));
  const running = await accept(userId, trace("running", "a"));
  await pool().query("update ingest_job set status = 'running', attempts = 1 where id = $1", [running]);
  await loseQueue();
  expect(await reconcileJobs()).toBe(2);
  expect([await entries(waiting), await entries(running)]).toEqual([1, 1]);
  expect(await reconcileJobs()).toBe(0);
  expect(await drainQueues()).toEqual({ processed: 2, drained: true });
  for (const jobId of [waiting, running]) expect((await getJob(userId, jobId)).status).toBe("succeeded");
});

test("uploads of a database restored without the queue's tables are processed after migrating", async () => {
  const jobId = await accept(userId, trace("restored", "a"));
  await pool().query("drop schema pgboss cascade");
  const url = requiredEnv("DATABASE_URL");
  await migrate(url, () => installQueues(url));
  expect(await drainQueues()).toEqual({ processed: 1, drained: true });
  expect((await getJob(userId, jobId)).status).toBe("succeeded");
});

test("jobs that have an open entry, and ended ones, are not enqueued", async () => {
  const fresh = await accept(userId, trace("fresh", "a"));
  const retried = await accept(userId, trace("retried", "a"));
  const active = await accept(userId, trace("active", "a"));
  const dying = await accept(userId, trace("dying", "a"));
  await acceptFailed(userId, trace("failed", "a"));
  const done = await accept(userId, trace("done", "a"));
  await runJob({ userId, jobId: done });
  const set = (jobId: string, change: string) =>
    pool().query(`update pgboss.job set ${change} where data ->> 'jobId' = $1`, [jobId]);
  await set(retried, "state = 'retry', start_after = now() + interval '1 minute'");
  await set(active, "state = 'active', started_on = now(), heartbeat_on = now()");
  await set(done, "state = 'completed', completed_on = now()");
  await pool().query("delete from pgboss.job where data ->> 'jobId' = $1", [dying]);
  await pool().query("insert into pgboss.job (name, data) values ($1, $2)", [
    queues.ingestDead,
    JSON.stringify({ userId, jobId: dying }),
  ]);
  expect(await reconcileJobs()).toBe(0);
  expect([await entries(fresh), await entries(retried), await entries(active), await entries(dying)]).toEqual([
    1, 1, 1, 0,
  ]);
});

test("a completed entry does not count for a job that is still open", async () => {
  const jobId = await accept(userId, trace("restored", "a"));
  await pool().query("update pgboss.job set state = 'completed', completed_on = now()");
  expect(await reconcileJobs()).toBe(1);
  expect(await entries(jobId)).toBe(1);
});

test("ten concurrent reconciliations and replays enqueue each job once", async () => {
  const lost = await Promise.all(Array.from({ length: 30 }, (_, n) => accept(userId, trace(`lost-${n}`, "a"))));
  await loseQueue();
  const failed = await Promise.all(
    Array.from({ length: 10 }, (_, n) => acceptFailed(userId, trace(`failed-${n}`, "a"))),
  );
  const [counts] = await Promise.all([
    Promise.all(Array.from({ length: 10 }, () => reconcileJobs())),
    ...failed.map((jobId) => replayJob(userId, jobId)),
  ]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
  for (const jobId of [...lost, ...failed]) expect(await entries(jobId)).toBe(1);
});

test("a job whose last attempt fails leaves no entry, so that a replay runs alone", async () => {
  const allow = await refuse("insert on trace");
  const jobId = await accept(userId, trace("poison", "a"));
  await pool().query("update ingest_job set attempts = 4 where id = $1", [jobId]);
  const run = () => takeOne(queues.ingest, () => runJob({ userId, jobId }));
  expect(await run()).toBe(true);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "failed", attempts: 5 });
  expect(await entries(jobId)).toBe(0);
  await replayJob(userId, jobId);
  await allow();
  expect(await entries(jobId)).toBe(1);
  expect(await run()).toBe(true);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test("what was accepted and stored while the database's clock was a day ahead is done once it is set back", async () => {
  const waiting = await accept(userId, trace("waiting", "aheadword"));
  const taken = await accept(userId, trace("taken", "aheadword"));
  const later = "now() + interval '1 day'";
  const set = (jobId: string, change: string) =>
    pool().query(`update pgboss.job set ${change} where data ->> 'jobId' = $1`, [jobId]);
  await set(waiting, `start_after = ${later}, created_on = ${later}`);
  await set(taken, `state = 'active', started_on = ${later}, heartbeat_on = ${later}`); // its worker was killed
  expect(await drainQueues()).toEqual({ processed: 1, drained: true });
  expect((await getJob(userId, waiting)).status).toBe("succeeded");
  const { rows } = await pool().query(
    "select heartbeat_on <= now() as past from pgboss.job where data ->> 'jobId' = $1",
    [taken],
  );
  expect(rows).toEqual([{ past: true }]);
  await pool().query(`update trace set stored_at = ${later}, search_pending = true where source_id = 'waiting'`);
  const settled = () =>
    pool().query("select 1 from trace where source_id = 'waiting' and stored_at < now() + interval '1 minute'");
  expect((await settled()).rowCount).toBe(0);
  await undoFuture();
  expect((await settled()).rowCount).toBe(1);
});
