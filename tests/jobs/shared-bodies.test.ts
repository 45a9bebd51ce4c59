import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deleteAccount } from "#lib/auth/deletion";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob, getListedJob } from "#lib/ingest/jobs";
import { failJob } from "#lib/ingest/process/attempts";
import { runJob } from "#lib/ingest/process/run-job";
import { getStorage } from "#lib/ingest/quota/quota";
import { purgeUploads } from "#lib/ingest/raw/retention";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { replayJob } from "#lib/ingest/replay";
import { trace } from "../support/ingesting.ts";
import { isLong } from "../support/long.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
beforeEach(async () => {
  for (const table of ["ingest_job", "trace"]) await pool().query(`delete from ${table}`);
});
afterEach(() => setEnv({ USER_QUOTA_BYTES: undefined }));

/** A body of so many bytes that can't be compressed much. */
const makeBody = (bytes: number) =>
  JSON.stringify({ traces: [trace(`of-${bytes}`, randomBytes(bytes).toString("base64").slice(0, bytes))] });
const send = (body: string, user = userId) =>
  acceptBatch({ userId: user, machine: "test" }, Buffer.from(body), "identity", undefined);
const run = async (jobId: string) => {
  await runJob({ userId, jobId });
  return getJob(userId, jobId);
};
const isKept = async (jobId: string) => (await getListedJob(userId, jobId)).isUploadStored;
const download = async (jobId: string) => text(await streamUpload(userId, jobId));

async function stored(): Promise<{ uploads: number; bodies: number; bytes: number }> {
  const { rows } = await pool().query(
    `select count(*)::int as uploads, count(body)::int as bodies, coalesce(sum(octet_length(body)), 0)::int as bytes
     from upload`,
  );
  return rows[0];
}

const age = (jobId: string) =>
  pool().query("update ingest_job set finished_at = now() - interval '31 days' where id = $1", [jobId]);

describe.each([
  ["large", 300_000],
  ["small", 20_000],
])("the same bytes of a %s upload", (_, bytes) => {
  test("are stored once, however often and however fast they come, and every job has them", async () => {
    const body = makeBody(bytes);
    const [jobs, more] = [[await send(body)], isLong ? 20 : 4];
    const { bytes: once } = await stored();
    for (let n = 0; n < more; n += 1) jobs.push(await send(body));
    jobs.push(...(await Promise.all(Array.from({ length: more }, () => send(body)))));
    expect(await stored()).toEqual({ uploads: 2 * more + 1, bodies: 1, bytes: once });
    expect((await run(jobs[0] ?? "")).traces).toMatchObject({ created: 1 });
    for (const jobId of jobs.slice(1)) expect((await run(jobId)).traces).toMatchObject({ unchanged: 1 });
    expect(JSON.parse(await download(jobs.at(-1) ?? ""))).toMatchObject(JSON.parse(body));
  });

  test("that come for the first time many at once are stored once", async () => {
    const body = makeBody(bytes + 1);
    await Promise.all(Array.from({ length: 10 }, () => send(body)));
    expect(await stored()).toMatchObject({ uploads: 10, bodies: 1 });
  });

  test("stay until the last upload that shares them is over", async () => {
    const body = makeBody(bytes);
    const [first, second] = [await send(body), await send(body)];
    await run(first);
    await age(first);
    expect(await purgeUploads()).toBe(1);
    expect([await isKept(first), await isKept(second)]).toEqual([false, true]);
    await expect(download(first)).rejects.toMatchObject({ code: "not_found" });
    const third = await send(body);
    expect(await stored()).toMatchObject({ bodies: 1 });
    await pool().query("delete from trace"); // so that the body is needed
    expect((await run(second)).traces).toMatchObject({ created: 1 });
    expect((await run(third)).traces).toMatchObject({ unchanged: 1 });
    await age(second);
    await purgeUploads();
    expect(await stored()).toMatchObject({ uploads: 2, bodies: 1 });
    await age(third);
    expect(await purgeUploads()).toBe(1);
    expect(await stored()).toEqual({ uploads: 0, bodies: 0, bytes: 0 });
  });

  test("are replayed from the upload that holds them", async () => {
    const body = makeBody(bytes);
    const [first, second] = [await send(body), await send(body)];
    await run(first);
    await failJob({ userId, jobId: second }, "processing_failed", "It could not be processed.");
    await age(first);
    await purgeUploads();
    await replayJob(userId, second);
    await pool().query("delete from trace");
    expect(await run(second)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
  });

  test("count once against a quota, and go with the copies that are removed for it", async () => {
    setEnv({ USER_QUOTA_BYTES: String(bytes * 4) });
    const body = makeBody(bytes);
    const jobs = [];
    for (let n = 0; n < 10; n += 1) {
      const jobId = await send(body);
      await run(jobId);
      jobs.push(jobId);
    }
    expect(await stored()).toMatchObject({ uploads: 10, bodies: 1 });
    const { used } = await getStorage(userId);
    for (const jobId of jobs.slice(0, 5)) {
      await pool().query("update ingest_job set status = 'failed' where id = $1", [jobId]);
    }
    const { used: withFailed } = await getStorage(userId);
    expect(withFailed - used).toBeGreaterThan(bytes * 0.7);
    expect(withFailed - used).toBeLessThan(bytes * 1.2);
    await pool().query("update ingest_job set status = 'succeeded'");
    await send(makeBody(bytes * 2.5));
    expect(await stored()).toMatchObject({ uploads: 1, bodies: 1 });
  });

  test("of two users are stored for each, and one's go with the account", async () => {
    const other = await makeUser({ name: "Bob", email: `bob-${bytes}@example.org`, password: "" });
    const body = makeBody(bytes);
    for (const user of [userId, other, other]) await send(body, user);
    expect(await stored()).toMatchObject({ uploads: 3, bodies: 2 });
    await deleteAccount(other);
    expect(await stored()).toMatchObject({ uploads: 1, bodies: 1 });
  });
});
