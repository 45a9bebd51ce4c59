import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { deleteAccount } from "#lib/auth/deletion";
import { SpoorError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { StoredBatch } from "#lib/ingest/process/stored-batch";
import { waitingForLocks } from "../support/meanwhile.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const accept = (sourceId: string, user = userId) => {
  const traces = [{ sourceId, messages: [{ position: 0, content: "x" }] }];
  return acceptBatch({ userId: user, machine: "test" }, Buffer.from(JSON.stringify({ traces })), "identity", undefined);
};

/** Makes the next job stop inside its transaction, like a worker after SIGSTOP. */
function stopNext(method: "grown" | "rows") {
  const resume = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const real = StoredBatch.prototype[method] as (...values: unknown[]) => unknown;
  const spy = vi.spyOn(StoredBatch.prototype, method);
  const wait = async () => {
    spy.mockRestore();
    reached.resolve();
    await resume.promise;
  };
  if (method === "grown") {
    spy.mockImplementation(async function (this: StoredBatch, ...values: unknown[]) {
      await wait();
      return real.apply(this, values);
    } as never);
  } else {
    spy.mockImplementation(async function* (this: StoredBatch, ...values: unknown[]) {
      await wait();
      yield* real.apply(this, values) as AsyncGenerator<Buffer>;
    } as never);
  }
  return { reached: reached.promise, resume: () => resume.resolve() };
}

const patience = { idleSeconds: 30, lockSeconds: 0.2, silentSeconds: 0.3 };

/** Retries a job as the queue does, until an attempt succeeds. @returns how many failed */
async function retry(jobId: string): Promise<number> {
  for (let failed = 0; failed < 50; failed += 1) {
    const error = await runJob({ userId, jobId }, patience).catch((reason: Error) => reason);
    if (!error) return failed;
    expect(error).toMatchObject({ code: "55P03" });
    await sleep(100);
  }
  throw new Error("the rows stayed locked");
}

test.each([
  ["between two queries", "grown"],
  ["in the middle of its COPY", "rows"],
] as const)(
  "a worker that is stopped %s loses its locks to another, and changes nothing when it resumes",
  async (_where, at) => {
    const jobId = await accept(`stopped at ${at}`);
    const stopped = stopNext(at);
    const late = runJob({ userId, jobId }, patience).catch((error: Error) => error);
    await stopped.reached;
    expect(await retry(jobId)).toBeGreaterThan(0);
    const done = await getJob(userId, jobId);
    expect(done).toMatchObject({ status: "succeeded", attempts: 2, messages: { written: 1 } });
    stopped.resume();
    expect(await late).toBeInstanceOf(Error);
    expect(await getJob(userId, jobId)).toEqual(done);
    const { rows } = await pool().query(
      `select count(*)::int as messages from message join trace using (user_id)
       where trace.id = trace_id and source_id = $1`,
      [`stopped at ${at}`],
    );
    expect(rows).toEqual([{ messages: 1 }]);
  },
);

const open = () =>
  pool().query(
    "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
  );

test("PostgreSQL ends the transaction of a worker that is stopped between two queries, without another worker", async () => {
  const jobId = await accept("alone");
  const stopped = stopNext("grown");
  const late = runJob({ userId, jobId }, { ...patience, idleSeconds: 0.2 }).catch((error: Error) => error);
  await stopped.reached;
  const { rowCount } = await open();
  expect(rowCount).toBe(1);
  await expect.poll(async () => (await open()).rowCount).toBe(0);
  stopped.resume();
  expect(await late).toBeInstanceOf(Error);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 0, messages: { written: 0 } });
});

test("a worker that is only slow keeps its locks", async () => {
  const jobId = await accept("slow");
  const slow = stopNext("rows");
  const first = runJob({ userId, jobId });
  await slow.reached;
  await expect(runJob({ userId, jobId }, { ...patience, silentSeconds: 30 })).rejects.toMatchObject({
    code: "55P03",
  });
  slow.resume();
  await first;
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
});

describe("an account that is deleted while its upload is processed", () => {
  const readNothing = async (user: string) => {
    const tables = ["ingest_job", "upload", "trace", "message"];
    const counts = tables.map((table) => pool().query(`select 1 from ${table} where user_id = $1`, [user]));
    expect((await Promise.all(counts)).map(({ rowCount }) => rowCount)).toEqual([0, 0, 0, 0]);
    expect((await pool().query(`select 1 from "user" where id = $1`, [user])).rowCount).toBe(0);
  };

  test.each(["grown", "rows"] as const)("waits for a job that is at its %s, and leaves nothing of it", async (at) => {
    const leaver = await makeUser({ name: "Bob", email: `${at}@example.org`, password: "" });
    const jobId = await accept("leaver's", leaver);
    const running = stopNext(at);
    const job = runJob({ userId: leaver, jobId });
    await running.reached;
    const deleted = deleteAccount(leaver);
    let isDeleted = false;
    deleted.then(() => {
      isDeleted = true;
    });
    await expect.poll(waitingForLocks).toBeGreaterThan(0);
    expect(isDeleted).toBe(false);
    running.resume();
    await Promise.all([job, deleted]);
    await readNothing(leaver);
  });

  test("leaves nothing behind for a job that starts during or after the deletion", async () => {
    for (let round = 0; round < 5; round += 1) {
      const leaver = await makeUser({ name: "Bob", email: `${round}@example.org`, password: "" });
      const jobIds = [await accept("one", leaver), await accept("two", leaver)];
      const jobs = jobIds.map((jobId) => sleep(round).then(() => runJob({ userId: leaver, jobId })));
      await Promise.all([...jobs, deleteAccount(leaver)]);
      await runJob({ userId: leaver, jobId: jobIds[0] ?? "" });
      await readNothing(leaver);
    }
  });
});

test("a job whose batch was not read before the timeout is retried, and the attempt counts", async () => {
  await accept("busy");
  const jobId = await accept("busy");
  vi.spyOn(StoredBatch.prototype, "begin").mockRejectedValueOnce(new SpoorError("unavailable", "busy"));
  await expect(runJob({ userId, jobId }, patience)).rejects.toThrow("busy");
  expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 1 });
  await runJob({ userId, jobId }, patience);
  expect(await getJob(userId, jobId)).toMatchObject({ status: "succeeded", attempts: 2 });
});
