import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { deleteAccount } from "#lib/auth/deletion";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { getStorage } from "#lib/ingest/quota/quota";
import { removeObjects, sweepOrphans } from "#lib/ingest/raw/removal";
import { purgeUploads } from "#lib/ingest/raw/retention";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { checkReadiness } from "#lib/observability/readiness";
import { listObjects } from "#lib/storage/s3";
import { holdDeadlines } from "../support/deadlines.ts";
import { trace } from "../support/ingesting.ts";
import { refuse } from "../support/refusing.ts";
import { startS3 } from "../support/s3.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const s3 = await startS3();
afterAll(s3.stop);

beforeEach(async () => {
  s3.setMood("well");
  s3.keep(undefined);
  setEnv({ ...s3.settings, USER_QUOTA_BYTES: undefined });
  for (const table of ["ingest_job", "trace", "object_removal"]) await pool().query(`delete from ${table}`);
  await sweepOrphans(-60_000);
  expect(await listObjects("")).toEqual([]);
});

/** A body of so many bytes that can't be compressed much. */
const makeBody = (bytes: number) =>
  JSON.stringify({ traces: [trace(`of-${bytes}`, randomBytes(bytes).toString("base64").slice(0, bytes))] });
const send = (body: string, user = userId, key?: string) =>
  acceptBatch({ userId: user, machine: "test" }, Buffer.from(body), "identity", key);
const objects = async () => (await listObjects("")).length;
const keys = async () => (await listObjects("")).map(({ key }) => key);

async function stored(): Promise<{ jobs: number; uploads: number; bodies: number }> {
  const { rows } = await pool().query(
    `select (select count(*)::int from ingest_job) as jobs, (select count(*)::int from upload) as uploads,
       (select count(body)::int from upload) as bodies`,
  );
  return rows[0];
}

const unavailable = { code: "unavailable", message: expect.stringContaining("upload store") };

describe.each([
  ["large", 300_000],
  ["small", 20_000],
])("the body of a %s upload", (_, bytes) => {
  test("is an object of the store, is processed and downloaded from there, and is deleted after its time", async () => {
    const body = makeBody(bytes);
    const jobId = await send(body);
    expect(await stored()).toEqual({ jobs: 1, uploads: 1, bodies: 0 });
    expect(await keys()).toEqual([`uploads/${userId}/${jobId}.zst`]);
    await runJob({ userId, jobId });
    expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
    expect(JSON.parse(await text(await streamUpload(userId, jobId)))).toMatchObject(JSON.parse(body));
    await pool().query("update ingest_job set finished_at = now() - interval '8 days'");
    expect(await purgeUploads()).toBe(1);
    await removeObjects(5);
    expect([await stored(), await objects()]).toEqual([{ jobs: 1, uploads: 0, bodies: 0 }, 0]);
  });

  test("is stored once for the same bytes, however they come", async () => {
    const body = makeBody(bytes);
    await Promise.all(Array.from({ length: 5 }, () => send(body)));
    await send(body);
    expect([await stored(), await objects()]).toEqual([{ jobs: 6, uploads: 6, bodies: 0 }, 1]);
  });

  test.each([
    ["is full", () => s3.setMood("full")],
    ["refuses", () => s3.setMood("forbidden")],
    ["does not know the key", () => setEnv({ UPLOAD_S3_ACCESS_KEY_ID: "another" })],
    ["breaks off", () => s3.setMood("breaking")],
    ["is at no address", () => setEnv({ UPLOAD_S3_ENDPOINT: "http://127.0.0.1:9" })],
  ])("is refused whole and soon where the store %s", async (_how, harm) => {
    harm();
    holdDeadlines(); // it is refused long before
    await expect(send(makeBody(bytes))).rejects.toMatchObject(unavailable);
    expect(await stored()).toEqual({ jobs: 0, uploads: 0, bodies: 0 });
    setEnv(s3.settings);
    s3.setMood("well");
    expect(await objects()).toBe(0);
    await send(makeBody(bytes));
    expect(await stored()).toMatchObject({ jobs: 1, uploads: 1 });
  });

  test("whose transaction fails is an orphan, which is swept; the others stay", async () => {
    const kept = await send(makeBody(bytes + 1));
    const allow = await refuse("insert on upload");
    await expect(send(makeBody(bytes))).rejects.toThrow("refused");
    await allow();
    expect([await stored(), await objects()]).toEqual([{ jobs: 1, uploads: 1, bodies: 0 }, 2]);
    expect(await sweepOrphans()).toBe(0); // its transaction might be about to commit
    expect(await sweepOrphans(-60_000)).toBe(1);
    expect(await keys()).toEqual([`uploads/${userId}/${kept}.zst`]);
  });
});

test("a store that is silent is given up on, and its job is processed once it answers", async () => {
  const jobId = await send(makeBody(100_000));
  s3.setMood("silent");
  const deadlines = holdDeadlines();
  const both = Promise.allSettled([send(makeBody(200_000)), runJob({ userId, jobId })]);
  await expect.poll(() => s3.seen.atOnce).toBe(2);
  expect(deadlines.map(({ ms }) => Math.floor(ms / 1000))).toEqual([10, 10]);
  for (const { pass } of deadlines) pass();
  const [sent, ran] = await both;
  expect([sent, ran]).toMatchObject([
    { status: "rejected", reason: unavailable },
    { status: "rejected", reason: { code: "unavailable" } },
  ]);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 0 });
  await s3.kill();
  s3.setMood("well");
  await expect(runJob({ userId, jobId })).rejects.toMatchObject({ code: "unavailable" });
  expect((await checkReadiness()).checks.uploadStore).toEqual({ ok: false, detail: "does not answer" });
  await s3.restart();
  await runJob({ userId, jobId });
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test("a body that is not valid, or whose key is taken, leaves nothing in the store", async () => {
  await expect(send(`${makeBody(200_000)}}`)).rejects.toMatchObject({ code: "invalid_json" });
  await send(makeBody(100_000), userId, "key");
  for (const bytes of [200_000, 20_000]) {
    await expect(send(makeBody(bytes), userId, "key")).rejects.toMatchObject({ code: "idempotency_key_reused" });
  }
  await expect.poll(objects).toBe(1);
});

test("a process makes few calls at once, whatever comes", async () => {
  s3.seen.most = 0;
  await Promise.all(Array.from({ length: 24 }, (_, n) => send(makeBody(10_000 + n))));
  expect(await objects()).toBe(24);
  expect(s3.seen.most).toBeLessThanOrEqual(16);
});

test("a deleted account's objects are deleted, also if the store is down at first", async () => {
  const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  await send(makeBody(10_000));
  for (const bytes of [10_000, 100_000, 100_001]) await send(makeBody(bytes), other);
  s3.setMood("breaking");
  await deleteAccount(other);
  await expect(removeObjects(5)).rejects.toMatchObject({ code: "unavailable" });
  s3.setMood("well");
  expect(await objects()).toBe(4);
  await removeObjects(5);
  expect(await keys()).toEqual([expect.stringContaining(`uploads/${userId}/`)]);
  expect((await pool().query("select 1 from object_removal")).rowCount).toBe(0);
});

test("objects that the store does not delete hold up no others", async () => {
  await pool().query(
    `insert into object_removal (key, created_at)
     select 'uploads/locked/' || n, now() - interval '1 hour' from generate_series(1, 12) as n`,
  );
  const jobId = await send(makeBody(10_000));
  await runJob({ userId, jobId });
  await pool().query("update ingest_job set finished_at = now() - interval '8 days'");
  await purgeUploads();
  s3.keep("/locked/");
  for (let call = 0; call < 2; call += 1) await expect(removeObjects(5)).rejects.toMatchObject({ code: "unavailable" });
  const { rows } = await pool().query(
    "select count(*)::int, bool_and(key like 'uploads/locked/%') from object_removal",
  );
  expect([await objects(), rows]).toEqual([0, [{ count: 12, bool_and: true }]]);
  s3.keep(undefined);
  await removeObjects(5);
  expect((await pool().query("select 1 from object_removal")).rowCount).toBe(0);
});

test("a sweep goes on behind an orphan that the store does not delete", async () => {
  const jobs = [await send(makeBody(10_000)), await send(makeBody(10_001))];
  await pool().query("delete from ingest_job");
  s3.keep(jobs[0]);
  await expect(sweepOrphans(-60_000)).rejects.toMatchObject({ code: "unavailable" });
  expect(await keys()).toEqual([`uploads/${userId}/${jobs[0]}.zst`]);
  expect(await sweepOrphans(-60_000)).toBe(0);
});

test("objects count against a quota as bodies do, and are deleted for it", async () => {
  setEnv({ USER_QUOTA_BYTES: "1000000" });
  const jobs: string[] = [];
  for (const bytes of [300_000, 300_001]) {
    const jobId = await send(makeBody(bytes));
    await runJob({ userId, jobId });
    jobs.push(jobId);
  }
  const { used } = await getStorage(userId);
  await pool().query("update ingest_job set status = 'failed' where id = $1", [jobs[1]]);
  expect((await getStorage(userId)).used - used).toBeGreaterThan(200_000);
  await pool().query("update ingest_job set status = 'succeeded'");
  await send(makeBody(300_002));
  await removeObjects(5);
  expect((await keys()).some((key) => key.includes(jobs[0] ?? ""))).toBe(false);
  expect(await objects()).toBe((await stored()).uploads);
});

test("with UPLOAD_STORE=postgres again, what is in the store is still processed, and new bodies stay here", async () => {
  const jobId = await send(makeBody(100_000));
  setEnv({ UPLOAD_STORE: "postgres" });
  await send(makeBody(100_001));
  expect([await stored(), await objects()]).toEqual([{ jobs: 2, uploads: 2, bodies: 1 }, 1]);
  await runJob({ userId, jobId });
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded" });
});
