import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { requiredEnv } from "#lib/core/env";
import { getJob } from "#lib/ingest/jobs";
import { program } from "#server/processes";
import { testEnvironment } from "../support/database.ts";
import { accept, trace } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

// Workers that are killed, blocked or refused are in tests/long/jobs/worker.test.ts.
test("a queued job is processed soon after a worker starts, and SIGTERM ends the worker with 0", async () => {
  const jobs = await Promise.all(["one", "two", "three"].map((id) => accept(userId, trace(id, "a", "b", "c"))));
  const worker = fork(program("worker"), {
    env: { ...process.env, ...testEnvironment, DATABASE_URL: requiredEnv("DATABASE_URL") },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    for (const jobId of jobs) {
      await expect
        .poll(() => getJob(userId, jobId), { timeout: 20_000 })
        .toMatchObject({ status: "succeeded", attempts: 1, messages: { written: 3 } });
    }
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
  } finally {
    worker.kill("SIGKILL");
  }
});
