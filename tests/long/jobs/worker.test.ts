import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { getJob } from "#lib/ingest/jobs";
import { program } from "#server/processes";
import { freshDatabase, testEnvironment } from "../../support/database.ts";
import { makeUser, setupToken } from "../../support/server.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let userId: string;
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  database = await freshDatabase();
  setEnv({ SETUP_TOKEN: setupToken });
  userId = await makeUser();
});
afterAll(async () => {
  for (const worker of workers) worker.kill("SIGKILL");
  await endThreads();
  await database.drop();
});

async function startWorker(): Promise<ChildProcess> {
  const worker = fork(program("worker"), {
    env: { ...process.env, ...testEnvironment, DATABASE_URL: database.url },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  workers.add(worker);
  await once(worker, "message");
  return worker;
}

function accept(sourceId: string, count: number, ofUser = userId) {
  const messages = Array.from({ length: count }, (_, position) => ({ position, content: `message ${position}` }));
  const body = Buffer.from(JSON.stringify({ traces: [{ sourceId, messages }] }));
  return acceptBatch({ userId: ofUser, machine: "test" }, body, "identity", undefined);
}

async function until<T>(seconds: number, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`not seen within ${seconds} s`);
    await sleep(50);
  }
}

const end = (jobId: string, seconds: number) =>
  until(seconds, async () => {
    const job = await getJob(userId, jobId);
    return (job.status === "succeeded" || job.status === "failed") && job;
  });

test("queued jobs are processed one after the other, not one per poll", async () => {
  const jobs = await Promise.all(Array.from({ length: 60 }, (_, n) => accept(`row-${n}`, 1)));
  const worker = await startWorker();
  for (const jobId of jobs) expect(await end(jobId, 20)).toMatchObject({ status: "succeeded" });
  worker.kill("SIGTERM");
  await once(worker, "exit");
});

test("a worker is ready, and finds lost jobs, while the deletion of an account takes long; it ends meanwhile, too", async () => {
  const leaver = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  await pool().query("create table held as select 1 as one");
  await pool().query(
    `create function hold() returns trigger language plpgsql as
       $$ begin while exists (select 1 from held) loop perform pg_sleep(0.1); end loop; return null; end $$`,
  );
  const held = () => pool().query("select 1 from pg_stat_activity where wait_event = 'PgSleep'");
  try {
    await accept("leaving", 1, leaver);
    const lost = await accept("lost", 1);
    await pool().query("delete from pgboss.job");
    await pool().query(`update "user" set deleted_at = now() where id = $1`, [leaver]);
    await pool().query("create trigger hold after delete on ingest_job for each statement execute function hold()");
    const startedAt = Date.now();
    const worker = await startWorker();
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    expect(await end(lost, 20)).toMatchObject({ status: "succeeded" });
    await until(20, async () => (await held()).rowCount === 1);
    const next = await accept("next", 1);
    expect(await end(next, 20)).toMatchObject({ status: "succeeded" });
    const askedAt = Date.now();
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
    expect(Date.now() - askedAt).toBeLessThan(15_000);
    await pool().query("delete from held");
    const another = await startWorker();
    await until(30, async () => (await pool().query(`select 1 from "user" where id = $1`, [leaver])).rowCount === 0);
    another.kill("SIGTERM");
    await once(another, "exit");
  } finally {
    await pool().query("delete from held");
    await pool().query("drop trigger if exists hold on ingest_job");
  }
});

test("a killed worker's job is processed once more by another, and writes nothing twice", async () => {
  const blocker = await pool().connect();
  const first = await startWorker();
  try {
    // The job stops inside its transaction, at the lock of its trace.
    await blocker.query("begin");
    await blocker.query("lock table trace in access exclusive mode");
    const jobId = await accept("killed", 500);
    await until(10, async () => (await getJob(userId, jobId)).status === "running");
    first.kill("SIGKILL");
    await once(first, "exit");
    await blocker.query("rollback");
    await startWorker();
    expect(await end(jobId, 90)).toMatchObject({ status: "succeeded", attempts: 2, messages: { written: 500 } });
    const { rows } = await pool().query("select count(*)::int as rows from message where user_id = $1", [userId]);
    expect(rows[0].rows).toBe(562);
  } finally {
    blocker.release(true);
  }
});

test("a job that crashes at every attempt ends as failed and keeps its upload, while others continue", async () => {
  await startWorker();
  await pool().query(
    `create function refuse() returns trigger language plpgsql as
       $$ begin if new.source_id = 'poison' then raise 'poison'; end if; return new; end $$`,
  );
  await pool().query("create trigger refuse before insert on trace for each row execute function refuse()");
  try {
    const poison = await accept("poison", 1);
    await pool().query("update ingest_job set attempts = attempts + 3 where id = $1", [poison]); // the first three attempts
    const healthy = await accept("healthy", 1);
    expect(await end(healthy, 20)).toMatchObject({ status: "succeeded" });
    expect(await end(poison, 60)).toMatchObject({
      status: "failed",
      attempts: 5,
      error: { code: "processing_failed" },
      messages: { written: 0 },
    });
    const { rowCount } = await pool().query("select 1 from upload where user_id = $1 and job_id = $2", [
      userId,
      poison,
    ]);
    expect(rowCount).toBe(1);
  } finally {
    await pool().query("drop trigger refuse on trace");
  }
});

test("an outage counts as no attempt: the job waits until the disk has space", async () => {
  await pool().query(
    `create function full_disk() returns trigger language plpgsql as
       $$ begin raise 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
  );
  await pool().query("create trigger full_disk before insert on trace for each row execute function full_disk()");
  const jobId = await accept("patient", 2);
  await sleep(6000);
  // Between two attempts; one is running for a moment each second.
  await vi.waitFor(
    async () => expect(await getJob(userId, jobId)).toMatchObject({ status: "queued", attempts: 0 }),
    5000,
  );
  await pool().query("drop trigger full_disk on trace");
  expect(await end(jobId, 60)).toMatchObject({ status: "succeeded", attempts: 1, messages: { written: 2 } });
});

test("SIGTERM ends a worker within 15 s while a job is blocked", async () => {
  const blocker = await pool().connect();
  for (const worker of workers) worker.kill("SIGKILL");
  const worker = await startWorker();
  try {
    await blocker.query("begin");
    await blocker.query("lock table trace in access exclusive mode");
    const jobId = await accept("held", 1);
    await until(30, async () => (await getJob(userId, jobId)).status === "running");
    const askedAt = Date.now();
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
    expect(Date.now() - askedAt).toBeLessThan(15_000);
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
});

test.each(["worker", "prepare"] as const)(
  "%s refuses to start on a database with what only a newer version can read",
  async (role) => {
    const { rows } = await pool().query(
      "insert into server_setting (key, value) values ('generation', '99') on conflict (key) do update set value = '99' returning key",
    );
    expect(rows).toHaveLength(1);
    const started = fork(program(role), ["web"], {
      env: { ...process.env, ...testEnvironment, DATABASE_URL: database.url },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    workers.add(started);
    let said = "";
    for (const stream of [started.stdout, started.stderr]) stream?.on("data", (text) => (said += text));
    try {
      expect(await once(started, "close")).toEqual([1, null]);
      expect(said).toContain("a newer version of Spoor has stored what this one can't read");
    } finally {
      await pool().query("delete from server_setting where key = 'generation'");
    }
  },
);
