import { zstdCompressSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { replayFailedJobs, replayJob } from "#lib/ingest/replay";
import { readMessages } from "#lib/messages/read-messages";
import { listTraces } from "#lib/traces/queries";
import { accept, acceptFailed, entries, trace } from "../support/ingesting.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const strangerId = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
beforeEach(async () => {
  await pool().query("delete from ingest_job");
  await pool().query("delete from pgboss.job");
});

const run = (jobId: string) => runJob({ userId, jobId });

async function contents(sourceId: string): Promise<string[]> {
  const { traces } = await listTraces(userId, {}, { limit: 200 });
  const id = traces.find((one) => one.sourceId === sourceId)?.id ?? "";
  return (await readMessages(userId, id, -1, { limit: 100 })).messages.map(({ content }) => content);
}

test("a failed job is queued again without attempts, times and error, and with one entry", async () => {
  const jobId = await acceptFailed(userId, trace("anew", "a"));
  await pool().query("update ingest_job set attempts = 5, started_at = now() where id = $1", [jobId]);
  await replayJob(userId, jobId);
  expect(await getJob(userId, jobId)).toMatchObject({
    status: "queued",
    attempts: 0,
    startedAt: null,
    finishedAt: null,
    error: null,
  });
  expect(await entries(jobId)).toBe(1);
  await run(jobId);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1, traces: { created: 1 } });
});

test("of twenty concurrent replays one enqueues, and the others are refused because the job is queued", async () => {
  const jobId = await acceptFailed(userId, trace("once", "a"));
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => replayJob(userId, jobId)));
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.message] : []));
  expect(refused).toEqual(Array(19).fill("Only a failed upload can be replayed; this one is queued already."));
  expect(await entries(jobId)).toBe(1);
});

test("concurrent replays of one and of all jobs enqueue each job once", async () => {
  const jobs = await Promise.all(Array.from({ length: 12 }, (_, n) => acceptFailed(userId, trace(`all-${n}`, "a"))));
  const [one = ""] = jobs;
  const results = await Promise.allSettled([
    replayFailedJobs(userId),
    replayJob(userId, one),
    replayFailedJobs(userId),
  ]);
  const counted = results.map((result) =>
    result.status === "rejected" ? 0 : result.value === undefined ? 1 : result.value.replayed,
  );
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(12);
  expect(await entries()).toBe(12);
  for (const jobId of jobs) expect(await entries(jobId)).toBe(1);
});

test("another user's job is answered like a missing one, and nothing happens to it", async () => {
  const jobId = await acceptFailed(userId, trace("mine", "a"));
  const missing = expect.objectContaining({ code: "not_found", message: "Not found." });
  await expect(replayJob(strangerId, jobId)).rejects.toEqual(missing);
  await expect(replayJob(userId, "01900000-0000-7000-8000-000000000000")).rejects.toEqual(missing);
  expect(await replayFailedJobs(strangerId)).toEqual({ replayed: 0, left: 0, gone: 0 });
  expect([(await getJob(userId, jobId)).status, await entries(jobId)]).toEqual(["failed", 0]);
});

test("the replay of a job that did not fail is refused with its status, and changes nothing", async () => {
  const jobId = await accept(userId, trace("fine", "a"));
  const refusal = (state: string) =>
    expect.objectContaining({ code: "invalid_request", message: expect.stringContaining(state) });
  await expect(replayJob(userId, jobId)).rejects.toEqual(refusal("is queued already"));
  await pool().query("update ingest_job set status = 'running' where id = $1", [jobId]);
  await expect(replayJob(userId, jobId)).rejects.toEqual(refusal("is being processed already"));
  await run(jobId);
  await expect(replayJob(userId, jobId)).rejects.toEqual(refusal("was processed"));
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
  expect(await entries(jobId)).toBe(1);
});

test("a job whose upload is gone cannot be replayed, and is counted separately when all are", async () => {
  const gone = await acceptFailed(userId, trace("gone", "a"));
  await acceptFailed(userId, trace("there", "a"));
  await pool().query("delete from upload where job_id = $1", [gone]);
  await expect(replayJob(userId, gone)).rejects.toEqual(
    expect.objectContaining({ code: "not_found", message: expect.stringContaining("no longer stored") }),
  );
  expect(await replayFailedJobs(userId)).toEqual({ replayed: 1, left: 0, gone: 1 });
  expect(await getJob(userId, gone)).toMatchObject({ status: "failed", error: { code: "processing_failed" } });
});

test("a replayed older upload overwrites nothing newer, not even what a newer one found unchanged", async () => {
  const older = await acceptFailed(userId, trace("order", "old"));
  await run(await accept(userId, trace("order", "new")));
  await replayJob(userId, older);
  await run(older);
  expect(await getJob(userId, older)).toMatchObject({ status: "succeeded", traces: { kept: 1 } });
  expect(await contents("order")).toEqual(["new"]);

  await run(await accept(userId, trace("back", "first")));
  const between = await acceptFailed(userId, trace("back", "second"));
  await run(await accept(userId, trace("back", "first")));
  await replayJob(userId, between);
  await run(between);
  expect(await contents("back")).toEqual(["first"]);
});

test("one call replays the oldest jobs up to its limit, and counts the rest", async () => {
  const max = limits.ingest.maxReplays;
  const first = await acceptFailed(userId, trace("many", "a"));
  const { rows } = await pool().query<{ id: string }>(
    `insert into ingest_job (user_id, id, machine, status, bytes, body_sha256, traces_received, messages_received)
     select user_id, gen_random_uuid(), 'test', 'failed', bytes, body_sha256, 1, 1
     from ingest_job, generate_series(1, $2) where id = $1 returning id`,
    [first, max + 4],
  );
  await pool().query(
    "insert into upload (user_id, job_id, body) select $1, id, '' from unnest($2::uuid[]) as made (id)",
    [userId, rows.map(({ id }) => id)],
  );
  expect(await replayFailedJobs(userId)).toEqual({ replayed: max, left: 5, gone: 0 });
  expect([await entries(), (await getJob(userId, first)).status]).toEqual([max, "queued"]);
  expect(await replayFailedJobs(userId)).toEqual({ replayed: 5, left: 0, gone: 0 });
  expect(await replayFailedJobs(userId)).toEqual({ replayed: 0, left: 0, gone: 0 });
});

test("a job that fails again names the faults with their paths, and can be replayed again", async () => {
  const jobId = await acceptFailed(userId, trace("again", "a"));
  // Like a batch that an earlier version accepted with other rules: it has no manifest of this version.
  const faulty = { traces: [{ sourceId: "again", messages: [0, 1, 2, 3, 4].map(() => ({ content: "no position" })) }] };
  await pool().query("update upload set body = $2, manifest = null where job_id = $1", [
    jobId,
    zstdCompressSync(JSON.stringify(faulty)),
  ]);
  for (const _time of [1, 2]) {
    await replayJob(userId, jobId);
    await run(jobId);
    const { status, error } = await getJob(userId, jobId);
    expect([status, error?.code]).toEqual(["failed", "invalid_request"]);
    expect(error?.message).toMatch(/^The batch is not valid: traces\.0\.messages\.0\.position .*; and 2 more\.$/);
  }
});
