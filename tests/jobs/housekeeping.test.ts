import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { purgeSignIns } from "#lib/auth/sign-in/sign-ins";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { purgeLogins } from "#lib/device/login";
import { purgeLimits } from "#lib/http/rate-limit";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob, getListedJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { purgeIdempotencyKeys, purgeUploads } from "#lib/ingest/raw/retention";
import { replayFailedJobs, replayJob } from "#lib/ingest/replay";
import { purgeShares } from "#lib/shares/shares";
import { purgeReports, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { housekeep, housekeepHourly } from "#server/background/housekeeping";
import { accept, acceptFailed, trace } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
setEnv({ UPLOAD_RETENTION_DAYS: "3" });
beforeEach(async () => {
  await pool().query("delete from ingest_job");
});

/** Moves a job some days into the past. */
async function age(jobId: string, days: number): Promise<void> {
  const { rows } = await pool().query(
    `select created_at - make_interval(days => $3) as created, finished_at - make_interval(days => $3) as finished
     from ingest_job where user_id = $1 and id = $2`,
    [userId, jobId, days],
  );
  await pool().query("update ingest_job set created_at = $3, finished_at = $4 where user_id = $1 and id = $2", [
    ...[userId, jobId],
    ...[rows[0].created, rows[0].finished],
  ]);
}

const isKept = async (jobId: string) => (await getListedJob(userId, jobId)).isUploadStored;

test("uploads of succeeded jobs are deleted after the retention time; failed, queued and younger ones stay", async () => {
  const [old, young] = [await accept(userId, trace("old", "a")), await accept(userId, trace("young", "a"))];
  for (const jobId of [old, young]) await runJob({ userId, jobId });
  const failed = await acceptFailed(userId, trace("failed", "a"));
  const waiting = await accept(userId, trace("waiting", "a"));
  for (const jobId of [old, failed, waiting]) await age(jobId, 4);
  await age(young, 2);
  expect(await purgeUploads()).toBe(1);
  expect(await Promise.all([old, young, failed, waiting].map(isKept))).toEqual([false, true, true, true]);
  expect(await getJob(userId, old)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
});

test("uploads of failed jobs are deleted after 30 days; the job then says so, and can't be replayed", async () => {
  const [old, young] = [await acceptFailed(userId, trace("o", "a")), await acceptFailed(userId, trace("y", "a"))];
  await age(old, 31);
  await age(young, 29);
  expect(await purgeUploads()).toBe(1);
  expect(await Promise.all([old, young].map(isKept))).toEqual([false, true]);
  const message = "It could not be processed. The upload was removed 30 days later.";
  expect(await getJob(userId, old)).toMatchObject({ status: "failed", error: { code: "processing_failed", message } });
  expect((await getJob(userId, young)).error?.message).toBe("It could not be processed.");
  await expect(replayJob(userId, old)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("no longer stored"),
  });
  expect(await replayFailedJobs(userId)).toEqual({ replayed: 1, left: 0, gone: 1 });
});

test("a replayed upload is stored for the retention time after it succeeded", async () => {
  const jobId = await acceptFailed(userId, trace("replayed", "a"));
  await age(jobId, 30);
  await replayJob(userId, jobId);
  await runJob({ userId, jobId });
  expect(await purgeUploads()).toBe(0);
  await age(jobId, 4);
  expect(await purgeUploads()).toBe(1);
});

test("a repeated body has its own upload, which outlives the first one's", async () => {
  const body = () => Buffer.from(JSON.stringify({ traces: [trace("large", "x".repeat(200_000))] }));
  const send = () => acceptBatch({ userId, machine: "test" }, body(), "identity", undefined);
  const first = await send();
  await runJob({ userId, jobId: first });
  const second = await send();
  await age(first, 4);
  expect(await purgeUploads()).toBe(1);
  expect([await isKept(first), await isKept(second)]).toEqual([false, true]);
  await runJob({ userId, jobId: second });
  expect(await getJob(userId, second)).toMatchObject({ status: "succeeded", traces: { unchanged: 1 } });
  const third = await send();
  await runJob({ userId, jobId: third });
  expect(await getJob(userId, third)).toMatchObject({ status: "succeeded", traces: { unchanged: 1 } });
});

test("idempotency keys are released after seven days, and their jobs stay", async () => {
  const send = (key: string) => acceptBatch({ userId, machine: "test" }, Buffer.from('{"traces":[]}'), "identity", key);
  const [old, young] = [await send("old"), await send("young")];
  await age(old, 8);
  await age(young, 6);
  expect(await purgeIdempotencyKeys()).toBe(1);
  const { rows } = await pool().query("select id, idempotency_key as key from ingest_job order by key");
  expect(rows).toEqual([
    { id: young, key: "young" },
    { id: old, key: null },
  ]);
  expect(await send("young")).toBe(young);
});

test("several calls within an hour run the housekeeping once", async () => {
  const jobId = await accept(userId, trace("hourly", "a"));
  const ended = async () => {
    await runJob({ userId, jobId });
    await age(jobId, 4);
  };
  await ended();
  await Promise.all(Array.from({ length: 5 }, () => housekeepHourly()));
  expect(await isKept(jobId)).toBe(false);
  await pool().query("insert into upload (user_id, job_id, body) values ($1, $2, '')", [userId, jobId]);
  await housekeepHourly();
  expect(await isKept(jobId)).toBe(true);
  await pool().query("update server_setting set updated_at = now() - interval '61 minutes' where key = 'housekeeping'");
  await housekeepHourly();
  expect(await isKept(jobId)).toBe(false);
});

test("nothing is deleted for its age by a process whose clock is ahead of the database's, nor is a limit ended", async () => {
  const jobId = await acceptFailed(userId, trace("kept", "a"));
  await pool().query("insert into rate_limit (key, points, expire) values ('running', 1, $1)", [Date.now() + 60_000]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 40 * 86_400_000 });
  try {
    await housekeep();
    await purgeLimits();
  } finally {
    vi.useRealTimers();
  }
  expect(await isKept(jobId)).toBe(true);
  expect((await pool().query("delete from rate_limit where key = 'running'")).rowCount).toBe(1);
});

test("limits whose window is over are deleted", async () => {
  await pool().query("insert into rate_limit (key, points, expire) values ('over', 1, 0)");
  await purgeLimits();
  expect((await pool().query("select 1 from rate_limit where key = 'over'")).rowCount).toBe(0);
});

test("a step that fails stops none of the others", async () => {
  await pool().query(
    "insert into process_heartbeat (id, role, seen_at) values (gen_random_uuid(), 'turn', now() - interval '2 days')",
  );
  await pool().query("alter table trace_share rename to elsewhere");
  try {
    await expect(housekeep()).rejects.toThrow("steps failed: purgeShares");
  } finally {
    await pool().query("alter table elsewhere rename to trace_share");
  }
  expect(
    (await pool().query("select 1 from process_heartbeat where seen_at < now() - interval '1 day'")).rowCount,
  ).toBe(0);
});

test("links to deleted sessions are deleted, however many links a user has", async () => {
  const [deleted, live] = [randomUUID(), randomUUID()];
  await pool().query(
    `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at,
       deleted_at)
     select $1, id::uuid, 'test', id, 0, 0, '', 1, now(), case when id = $2 then now() end from unnest($3::text[]) as given (id)`,
    [userId, deleted, [deleted, live]],
  );
  const share = `insert into trace_share (user_id, trace_id, hash)
    select $1, id, sha256(convert_to(id::text, 'UTF8'))`;
  await pool().query(`${share} from unnest($2::uuid[]) as given (id)`, [userId, [deleted, live]]);
  await pool().query(`${share} from (select gen_random_uuid() as id from generate_series(1, 11000)) as made`, [userId]);
  await purgeShares();
  const { rows } = await pool().query("select trace_id from trace_share where trace_id = any($1)", [[deleted, live]]);
  expect(rows).toEqual([{ trace_id: live }]);
});

async function all<T>(sql: string): Promise<T[]> {
  return (await pool().query<{ value: T }>(sql)).rows.map(({ value }) => value);
}

test("telemetry is deleted after 90 days with everything that belongs to it, and not before", async () => {
  for (const [deviceId, age] of [
    ["kept", "89 days 23 hours"],
    ["gone", "90 days 1 minute"],
  ]) {
    const sent = { schema: 1, deviceId, cliVersion: "1", platform: "p", arch: "a", command: "scan" };
    const parts = { diagnostics: [{ adapter: deviceId }], events: [{ name: deviceId, properties: {} }] };
    await recordTelemetry(telemetryRequest.parse({ ...sent, ...parts }), { userId, machine: deviceId ?? "" });
    await pool().query("update telemetry_report set received_at = now() - $2::interval where device_id = $1", [
      deviceId,
      age,
    ]);
  }
  expect(await purgeReports()).toBe(1);
  expect(await all("select device_id as value from telemetry_report")).toEqual(["kept"]);
  expect(await all("select adapter as value from diagnostic")).toEqual(["kept"]);
  expect(await all("select name as value from client_event")).toEqual(["kept"]);
  expect(await purgeReports()).toBe(0);
});

test("expired sign-ins, and values of sign-ins that were begun, are deleted, and no others", async () => {
  for (const [name, until] of [
    ["gone", "-1 minute"],
    ["kept", "1 minute"],
  ]) {
    await pool().query("insert into session (user_id, token, expires_at) values ($1, $2, now() + $3::interval)", [
      userId,
      name,
      until,
    ]);
    await pool().query(
      "insert into verification (identifier, value, expires_at) values ($1, '', now() + $2::interval)",
      [name, until],
    );
  }
  await purgeSignIns();
  expect(await all("select token as value from session")).toEqual(["kept"]);
  expect(await all("select identifier as value from verification")).toEqual(["kept"]);
});

test("device logins go a day after they were over", async () => {
  for (const [machine, age] of [
    ["gone", "24 hours 1 minute"],
    ["kept", "23 hours"],
  ]) {
    await pool().query(
      `insert into device_login (device_code_hash, user_code_hash, machine, ip_address, expires_at)
       values ($1, $1, $2, '', now() - $3::interval)`,
      [Buffer.from(machine ?? ""), machine, age],
    );
  }
  expect(await purgeLogins()).toBe(1);
  expect(await all("select machine as value from device_login")).toEqual(["kept"]);
});
