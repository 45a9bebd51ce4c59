import { afterAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { getJob } from "#lib/ingest/jobs";
import { replayJob } from "#lib/ingest/replay";
import { SpoorProcess } from "../../faults/process.ts";
import { until } from "../../faults/wait.ts";
import { freshDatabase, testEnvironment } from "../../support/database.ts";
import { makeUser, setupToken } from "../../support/server.ts";

const database = await freshDatabase();
setEnv({ SETUP_TOKEN: setupToken });
const userId = await makeUser();
const started: SpoorProcess[] = [];
afterAll(async () => {
  await Promise.all(started.map((one) => one.kill()));
  await endThreads();
  await database.drop();
});

function start(environment: Record<string, string>): SpoorProcess {
  const worker = new SpoorProcess(
    "worker",
    { ...testEnvironment, DATABASE_URL: database.url, LOG_LEVEL: "warn", ...environment },
    { kept: true },
  );
  started.push(worker);
  return worker;
}

function accept(sourceId: string, count: number, characters: number) {
  const messages = Array.from({ length: count }, (_, position) => ({
    ...{ position, role: "user", content: `${position} `.padEnd(characters, "a few words and ") },
  }));
  const body = Buffer.from(JSON.stringify({ traces: [{ sourceId, messages }] }));
  return acceptBatch({ userId, machine: "test" }, body, "identity", undefined);
}

/** The heap that a worker may have, in MB. */
const heap = (megabytes: number) => ({ NODE_OPTIONS: `--max-old-space-size=${megabytes}` });

const end = (jobId: string) =>
  until(120, "a job has ended", async () => {
    const job = await getJob(userId, jobId);
    return (job.status === "succeeded" || job.status === "failed") && job;
  });

test("a worker with a heap of 60 MB processes the longest session, of 100 MB", { timeout: 200_000 }, async () => {
  const jobId = await accept("long", 50_000, 2000);
  const worker = start(heap(60));
  expect(await end(jobId)).toMatchObject({ status: "succeeded", attempts: 1, messages: { written: 50_000 } });
  expect(worker.restarts).toBe(0);
  await worker.kill();
});

test("what a worker has taken that runs out of memory again and again is not lost", { timeout: 300_000 }, async () => {
  const jobs = [await accept("large", 20_000, 2000)];
  for (let n = 0; n < 5; n += 1) jobs.push(await accept(`small-${n}`, 3, 100));
  const poor = start(heap(36));
  await until(120, "it has ended three times", async () => poor.restarts >= 3);
  expect(poor.output).toContain("heap out of memory");
  await poor.kill();
  start({});
  for (const jobId of jobs) {
    const { status } = await end(jobId); // each end of that worker may have cost an attempt
    if (status === "failed") await replayJob(userId, jobId);
    expect(await end(jobId)).toMatchObject({ status: "succeeded" });
  }
  const { rows } = await pool().query(
    "select count(*)::int as messages from message join trace on trace.id = trace_id where source_id <> 'long'",
  );
  expect(rows).toEqual([{ messages: 20_015 }]);
});
