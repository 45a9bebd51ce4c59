import "server-only";
import { type Db, PgBoss } from "pg-boss";
import { pool, type Queryable } from "#lib/db/client";
import { log } from "#lib/log";

/** The queues' names. A job's payload names rows; the rows hold the truth. */
export const queues = { ingest: "ingest", ingestDead: "ingest-dead", housekeeping: "housekeeping" } as const;

/** What a killed worker's job waits for before another takes it: 10 s of silence, looked at every second. */
const heartbeatSeconds = 10;

const policies = [
  // A job that is out of tries goes to `ingest-dead`, whose handler tells the domain.
  [queues.ingestDead, { retryLimit: 10, retryBackoff: true, retryDelayMax: 60 }],
  [
    queues.ingest,
    {
      notify: true,
      deadLetter: queues.ingestDead,
      // The domain counts the tries (lib/ingest/jobs.ts): an outage spends none of them.
      retryLimit: 10_000,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds,
      expireInSeconds: 3600,
      retentionSeconds: 365 * 86_400,
      deleteAfterSeconds: 86_400,
    },
  ],
  [queues.housekeeping, { policy: "short", retryLimit: 0, expireInSeconds: 900, deleteAfterSeconds: 86_400 }],
] as const;

const globals = globalThis as typeof globalThis & { spoorBoss?: Promise<PgBoss> };

function executor(runner: Queryable): Db {
  return { executeSql: (text, values) => runner.query(text, values as unknown[]) };
}

/** The web process's instance: it enqueues and does nothing else. */
function enqueuer(): Promise<PgBoss> {
  globals.spoorBoss ??= (async () => {
    const boss = new PgBoss({
      db: executor(pool()),
      supervise: false,
      schedule: false,
      migrate: false,
      createSchema: false,
    });
    boss.on("error", (error) => log.warn({ err: error }, "the job queue reported an error"));
    return boss.start();
  })().catch((error) => {
    globals.spoorBoss = undefined;
    throw error;
  });
  return globals.spoorBoss;
}

/** Makes `enqueue` ready. Call it before a transaction: its first start needs connections, and holds none. */
export async function prepareQueue(): Promise<void> {
  await enqueuer();
}

/** Enqueues jobs inside the transaction of `tx`: they exist when, and only when, the transaction commits. */
export async function enqueue(
  tx: Queryable,
  queue: (typeof queues)[keyof typeof queues],
  payloads: object[],
): Promise<void> {
  if (payloads.length === 0) return;
  const boss = await enqueuer();
  const jobs = payloads.map((data) => ({ data }));
  try {
    await boss.insert(queue, jobs, { db: executor(tx) });
  } catch (error) {
    // An instance that could not read its queues at its start never gets over it: the next call makes another.
    globals.spoorBoss = undefined;
    throw error;
  }
}

/**
 * A worker's instance, with its own connections and LISTEN. The caller starts and stops it.
 *
 * What it writes itself (taken, done, to be tried again) does not wait for the disk: the domain's rows hold the truth, and
 * a job that a crash of the database gives out again finds itself done.
 */
export function makeWorkerBoss(databaseUrl: string): PgBoss {
  const connection = new URL(databaseUrl);
  connection.searchParams.set("options", "-c synchronous_commit=off");
  const boss = new PgBoss({
    connectionString: connection.href,
    application_name: "spoor-queue",
    max: 6,
    useListenNotify: true,
    monitorIntervalSeconds: 1,
    superviseIntervalSeconds: 1,
    migrate: false,
    createSchema: false,
  });
  boss.on("error", (error) => log.warn({ err: error }, "the job queue reported an error"));
  return boss;
}

/** Makes the queue's own tables and the queues, and brings their policies up to this version. Part of migrating. */
export async function installQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 2, supervise: false, schedule: false });
  boss.on("error", (error) => log.error({ err: error }, "the job queue reported an error"));
  await boss.start();
  try {
    for (const [name, options] of policies) {
      await boss.createQueue(name, options);
      const { policy: _fixed, ...changeable } = options as { policy?: string } & object;
      await boss.updateQueue(name, changeable);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}
