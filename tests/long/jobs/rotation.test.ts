import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { requiredEnv, setEnv } from "#lib/env";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { testEnvironment } from "../../support/database.ts";
import { trace } from "../../support/ingesting.ts";
import { waitingForLocks } from "../../support/meanwhile.ts";
import { startS3 } from "../../support/s3.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();
const s3 = await startS3();
const [old, first] = Array.from({ length: 2 }, () => randomBytes(32).toString("base64")) as [string, string];
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

test("a call that is killed half-way leaves all readable, and the next one ends its work", async () => {
  // The third is in the database, and has more than is sealed in one piece.
  const bodies = [20_000, 300_000, 3_000_000, 30_000, 300_001].map(bodyOf);
  const jobs: string[] = [];
  use(old);
  for (const [index, body] of bodies.entries()) {
    setEnv({ UPLOAD_STORE: index === 2 ? "postgres" : "s3" });
    jobs.push(await send(body));
  }
  const letGo = await hold(jobs[2]);
  const command = spawn(process.execPath, ["--conditions=react-server", "lib/server/admin.ts", "rotate-keys"], {
    env: {
      ...process.env,
      ...testEnvironment,
      ...s3.settings,
      DATABASE_URL: requiredEnv("DATABASE_URL"),
      ENCRYPTION_KEY: `${first},${old}`,
    },
    stdio: "ignore",
  });
  await expect.poll(waitingForLocks, { timeout: 30_000 }).toBe(1);
  command.kill("SIGKILL");
  await once(command, "exit");
  letGo();
  use(first, old);
  await expectReadable(jobs, bodies);
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 0, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 0, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});
