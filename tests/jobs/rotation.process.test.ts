import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { setEnv } from "#lib/env";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { trace } from "../support/ingesting.ts";
import { waitingForLocks } from "../support/meanwhile.ts";
import { startS3 } from "../support/s3.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const s3 = await startS3();
const [old, first, lost] = Array.from({ length: 3 }, () => randomBytes(32).toString("base64")) as [
  string,
  string,
  string,
];
const use = (...keys: string[]) => setEnv({ ENCRYPTION_KEY: keys.join(",") || undefined });
afterAll(async () => {
  use();
  await s3.stop();
});

beforeEach(async () => {
  setEnv(s3.settings);
  s3.setMood("well");
  use();
  for (const table of ["ingest_job", "trace", "object_removal"]) await pool().query(`delete from ${table}`);
});

/** A body of so many bytes that can't be compressed much. */
const bodyOf = (bytes: number) =>
  JSON.stringify({ traces: [trace(`of-${bytes}`, randomBytes(bytes).toString("base64").slice(0, bytes))] });
const send = (body: string) => acceptBatch({ userId, machine: "test" }, Buffer.from(body), "identity", undefined);

async function expectReadable(jobs: string[], bodies: string[]): Promise<void> {
  for (const [index, jobId] of jobs.entries())
    expect((await text(await streamUpload(userId, jobId))) === bodies[index]).toBe(true);
}

async function expectProcessed(jobs: string[]): Promise<void> {
  for (const jobId of jobs) {
    await runJob({ userId, jobId });
    expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
  }
}

/** Holds the body of an upload in the database, so that who changes its key waits. @returns what lets go of it */
async function hold(jobId: string | undefined): Promise<() => void> {
  const client = await pool().connect();
  await client.query("begin");
  await client.query("select 1 from upload where user_id = $1 and job_id = $2 for update", [userId, jobId]);
  return () => client.release(true);
}

test("objects get the first key, also after it failed; those from before a key stay readable", async () => {
  const bodies = [20_000, 30_000, 40_000, 300_000].map(bodyOf);
  const jobs = [await send(bodies[0] ?? "")];
  use(old);
  for (const body of bodies.slice(1)) jobs.push(await send(body));
  use(first, old);
  s3.setMood("forbidden");
  await expect(rotateKeys()).rejects.toThrow();
  s3.setMood("well");
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 1, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 1, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});

test("a call that is cut off half-way leaves all readable, and the next one ends its work", async () => {
  // The third is in the database, and has more than is sealed in one piece.
  const bodies = [20_000, 300_000, 3_000_000, 30_000, 300_001].map(bodyOf);
  const jobs: string[] = [];
  use(old);
  for (const [index, body] of bodies.entries()) {
    setEnv({ UPLOAD_STORE: index === 2 ? "postgres" : "s3" });
    jobs.push(await send(body));
  }
  const letGo = await hold(jobs[2]);
  use(first, old);
  const rotating = rotateKeys().catch((error: Error) => error);
  await expect.poll(waitingForLocks).toBe(1);
  await pool().query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  expect(await rotating).toBeInstanceOf(Error);
  letGo();
  await expectReadable(jobs, bodies);
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 0, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 0, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});

test("bodies whose key is lost, or that were changed, are told, and keep up none of the others", async () => {
  use(lost);
  await send(bodyOf(20_000));
  setEnv({ UPLOAD_STORE: "postgres" });
  await send(bodyOf(30_000));
  use(old);
  const changed = await send(bodyOf(40_000));
  await pool().query("update upload set body = set_byte(body, 100, 255 - get_byte(body, 100)) where job_id = $1", [
    changed,
  ]);
  const bodies = [bodyOf(50_000), bodyOf(60_000)];
  const jobs = [await send(bodies[0] ?? "")];
  setEnv({ UPLOAD_STORE: "s3" });
  jobs.push(await send(bodies[1] ?? ""));
  use(first, old);
  expect(await rotateKeys()).toEqual({ sealed: 2, left: 0, unreadable: 3 });
  use(first);
  await expectReadable(jobs, bodies);
});

test("an object whose upload ends meanwhile is removed once more", async () => {
  use(old);
  setEnv({ UPLOAD_STORE: "postgres" });
  const held = await send(bodyOf(20_000));
  setEnv({ UPLOAD_STORE: "s3" });
  const ended = await send(bodyOf(30_000));
  use(first, old);
  const letGo = await hold(held);
  const rotating = rotateKeys();
  await expect.poll(waitingForLocks).toBe(1);
  await pool().query("delete from ingest_job where user_id = $1 and id = $2", [userId, ended]);
  letGo();
  expect(await rotating).toEqual({ sealed: 2, left: 0, unreadable: 0 });
  const { rows } = await pool().query("select key from object_removal");
  expect(rows).toEqual([{ key: `uploads/${userId}/${ended}.zst` }]);
});
