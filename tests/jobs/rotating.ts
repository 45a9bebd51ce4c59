// Uploads whose bodies are encrypted, with another key after another.
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { trace } from "../support/ingesting.ts";
import { startS3 } from "../support/s3.ts";
import { provideOwner } from "../support/server.ts";

export const makeKey = (): string => randomBytes(32).toString("base64");

/** Sets the keys. */
export const use = (...keys: string[]) => setEnv({ ENCRYPTION_KEY: keys.join(",") || undefined });

/** Makes a body of so many bytes that can't be compressed much. */
export const makeBody = (bytes: number) =>
  JSON.stringify({ traces: [trace(`of-${bytes}`, randomBytes(bytes).toString("base64").slice(0, bytes))] });

/** Provides an account and a store, which are empty and without a key before each test. */
export async function provideStore() {
  const { userId } = await provideOwner();
  const s3 = await startS3();
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

  const send = (body: string) => acceptBatch({ userId, machine: "test" }, Buffer.from(body), "identity", undefined);

  async function expectReadable(jobs: string[], bodies: string[]): Promise<void> {
    for (const [index, jobId] of jobs.entries())
      expect(JSON.parse(await text(await streamUpload(userId, jobId)))).toMatchObject(JSON.parse(bodies[index] ?? ""));
  }

  async function expectProcessed(jobs: string[]): Promise<void> {
    for (const jobId of jobs) {
      await runJob({ userId, jobId });
      expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
    }
  }

  /** Holds the body of an upload in the database, so that a change of its key waits. @returns what lets go of it */
  async function hold(jobId: string | undefined): Promise<() => void> {
    const client = await pool().connect();
    await client.query("begin");
    await client.query("select 1 from upload where user_id = $1 and job_id = $2 for update", [userId, jobId]);
    return () => client.release(true);
  }

  return { userId, s3, send, expectReadable, expectProcessed, hold };
}
