import { randomInt } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { setEnv } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getListedJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { getStorage, requireRoom } from "#lib/ingest/quota/quota";
import { replayFailedJobs, replayJob } from "#lib/ingest/replay";
import { deleteTrace } from "#lib/traces/deletion";
import { acceptFailed, trace } from "../support/ingesting.ts";
import { makeNoise } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const quota = 1_000_000;

beforeEach(async () => {
  setEnv({ USER_QUOTA_BYTES: String(quota) });
  for (const table of ["ingest_job", "trace", "pgboss.job"]) await pool().query(`delete from ${table}`);
});

const send = (traces: object[], key?: string) =>
  acceptBatch({ userId, machine: "test" }, Buffer.from(JSON.stringify({ traces })), "identity", key);
const used = async () => (await getStorage(userId)).used;
const refused = { code: "payload_too_large", message: expect.stringContaining(String(quota)) };

async function store(traces: object[]): Promise<string> {
  const jobId = await send(traces);
  await runJob({ userId, jobId });
  return jobId;
}

async function findId(sourceId: string): Promise<string> {
  const { rows } = await pool().query("select id from trace where source_id = $1", [sourceId]);
  return rows[0]?.id;
}

test.each([
  ["large", 90_000],
  ["small", 30_000],
])("%s uploads at once fill the quota and never pass it; a refused one leaves nothing behind", async (what, bytes) => {
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) => send([trace(`${what}-${n}`, makeNoise(bytes))])),
  );
  const jobs = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(jobs.length + errors.length).toBe(40);
  expect(jobs.length).toBeGreaterThan(3);
  for (const error of errors) expect(error).toMatchObject(refused);
  expect(await used()).toBeLessThanOrEqual(quota);
  expect(await used()).toBeGreaterThan(quota - bytes - 1000);
  const { rows } = await pool().query(
    `select (select count(*)::int from ingest_job) as jobs, (select count(*)::int from upload) as uploads,
       (select count(*)::int from pgboss.job where name = 'ingest') as entries`,
  );
  expect(rows).toEqual([{ jobs: jobs.length, uploads: jobs.length, entries: jobs.length }]);
  for (const jobId of jobs) await runJob({ userId, jobId });
  expect(await used()).toBeLessThanOrEqual(quota);
  expect(await used()).toBeGreaterThan(jobs.length * bytes);
});

test("what is used follows from what is stored: sent, sent again, grown, replaced and deleted", async () => {
  const [first, second] = [makeNoise(200_000), makeNoise(200_000)];
  await store([trace("one", first)]);
  const one = await used();
  expect(one).toBeGreaterThan(200_000);
  expect(one).toBeLessThan(201_000);
  await store([trace("one", first)]);
  expect(await used()).toBe(one);
  await store([trace("one", first, second)]);
  expect(await used()).toBeGreaterThan(one + 200_000);
  await store([{ ...trace("one", first), replace: true }]);
  expect(await used()).toBe(one);
  await store([{ ...trace("two", "a"), metadata: { text: makeNoise(100_000) } }]);
  expect(await used()).toBeGreaterThan(one + 100_000);
  for (const sourceId of ["one", "two"]) await deleteTrace(userId, await findId(sourceId), operator);
  expect(await used()).toBeLessThan(2000);
});

test("a session counts with all its texts, while it waits and once it is stored", async () => {
  const wide = (length: number) => String.fromCodePoint(...Array.from({ length }, () => 0x4e00 + randomInt(20_000)));
  const texts = { source: makeNoise(128), title: wide(512), model: makeNoise(256), project: wide(256) };
  const rows = Array.from({ length: 20 }, (_, n) => ({ ...trace(makeNoise(500) + n, wide(200)), ...texts }));
  const jobId = await send(rows);
  const waiting = await used();
  await runJob({ userId, jobId });
  const stored = await used();
  // A row of nearly 5 KB, beside its message: the key twice, and the title that it would have without its own.
  const { rows: sizes } = await pool().query("select sum(pg_column_size(trace.*))::int as bytes from trace");
  expect(sizes[0].bytes).toBeGreaterThan(20 * 2500);
  expect(stored).toBeGreaterThan(sizes[0].bytes + 20 * 600);
  expect(waiting).toBeGreaterThanOrEqual(stored);
  expect(waiting).toBeLessThan(stored + 20 * 100);
});

test("a session of most of the quota can be sent again, and grow", async () => {
  const text = makeNoise(700_000);
  for (const more of ["", "a little more", "and more"]) await store([trace("one", text, more)]);
  await expect(send([trace("one", text, makeNoise(300_000))])).rejects.toMatchObject(refused);
  await expect(send([trace("two", makeNoise(300_000))])).rejects.toMatchObject(refused);
  await deleteTrace(userId, await findId("one"), operator);
  await store([trace("two", makeNoise(300_000))]);
});

test("uploads that wait take no more room than the quota, however little they add", async () => {
  const text = makeNoise(400_000);
  const titled = (title: string) => [{ ...trace("same", text), title }];
  await store(titled("first"));
  const answers = [];
  for (let n = 0; n < 5; n += 1) answers.push(await send(titled(`again ${n}`)).catch((error) => error.code));
  expect(answers.filter((answer) => answer === "overloaded").length).toBe(2);
  expect(await used()).toBeLessThan(401_000);
});

test("raw uploads of succeeded jobs are kept in what is left of the quota, the newest last", async () => {
  const jobs: string[] = [];
  for (const n of [1, 2, 3]) jobs.push(await store([trace(`copy-${n}`, makeNoise(150_000))]));
  const kept = async () => Promise.all(jobs.map(async (jobId) => (await getListedJob(userId, jobId)).isUploadStored));
  expect(await kept()).toEqual([true, true, true]);
  for (const n of [4, 5]) jobs.push(await store([trace(`copy-${n}`, makeNoise(150_000))]));
  expect(await kept()).toEqual([false, false, true, true, true]);
  expect(await used()).toBeLessThan(quota);
});

test("sessions of an earlier version, whose size was not recorded, count as well", async () => {
  await store([trace("old", makeNoise(100_000), makeNoise(50_000))]);
  const before = await used();
  await pool().query("update trace set stored_bytes = null");
  expect(Math.abs((await used()) - before)).toBeLessThan(1000);
  await pool().query("update trace set messages_bytes = null");
  expect(Math.abs((await used()) - before)).toBeLessThan(1000);
});

test("failed uploads are replayed only where there is room", async () => {
  const jobs = [
    await acceptFailed(userId, trace("failed-1", makeNoise(250_000))),
    await acceptFailed(userId, trace("failed-2", makeNoise(250_000))),
  ];
  setEnv({ USER_QUOTA_BYTES: "480000" });
  const full = { code: "payload_too_large", message: expect.stringContaining("480000") };
  await expect(replayFailedJobs(userId)).rejects.toMatchObject(full);
  expect(await Promise.all(jobs.map(async (jobId) => (await getListedJob(userId, jobId)).status))).toEqual([
    "failed",
    "failed",
  ]);
  await replayJob(userId, jobs[0] ?? "");
  await expect(replayJob(userId, jobs[1] ?? "")).rejects.toMatchObject(full);
  await runJob({ userId, jobId: jobs[0] ?? "" });
  await deleteTrace(userId, await findId("failed-1"), operator);
  await replayJob(userId, jobs[1] ?? "");
});

test("an upload that can't fit is refused before it is read, but not one whose key is known", async () => {
  await requireRoom(userId, 900_000, undefined);
  const jobId = await send([trace("keyed", makeNoise(300_000))], "key");
  await expect(requireRoom(userId, 900_000, "another")).rejects.toMatchObject(refused);
  await expect(requireRoom(userId, 900_000, undefined)).rejects.toBeInstanceOf(SpoorError);
  await requireRoom(userId, 900_000, "key");
  await requireRoom(userId, 0, undefined);
  expect(jobId).toEqual(expect.any(String));
});

test("without a quota nothing is reserved", async () => {
  setEnv({ USER_QUOTA_BYTES: undefined });
  for (const bytes of [10, 2_000_000]) await send([trace(`free-${bytes}`, makeNoise(bytes))]);
  await requireRoom(userId, 1e9, undefined);
  const { rows } = await pool().query("select reserved_bytes from ingest_job");
  expect(rows).toEqual([{ reserved_bytes: null }, { reserved_bytes: null }]);
});
