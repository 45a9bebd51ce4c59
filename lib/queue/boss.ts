import "server-only";
import { type Db, type Job, PgBoss } from "pg-boss";
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

/** The web process's instance: it enqueues and, where it is asked to, takes single jobs; by itself it does nothing. */
function enqueuer(): Promise<PgBoss> {
  globals.spoorBoss ??= (async () => {
    const boss = new PgBoss({
      db: executor(pool()),
      supervise: false,
      monitorIntervalSeconds: 1, // for `superviseQueues`, which is asked for once a minute at most
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

type QueueName = (typeof queues)[keyof typeof queues];

/** Enqueues jobs inside the transaction of `tx`: they exist when, and only when, the transaction commits. */
export async function enqueue(tx: Queryable, queue: QueueName, payloads: object[]): Promise<void> {
  if (payloads.length === 0) return;
  const jobs = payloads.map((data) => ({ data }));
  await withEnqueuer((boss) => boss.insert(queue, jobs, { db: executor(tx) }));
}

async function withEnqueuer<T>(work: (boss: PgBoss) => Promise<T>): Promise<T> {
  const starting = enqueuer();
  const boss = await starting;
  try {
    return await work(boss);
  } catch (error) {
    // An instance that could not read its queues at its start never gets over it: the next call makes another.
    if (globals.spoorBoss === starting) {
      globals.spoorBoss = undefined;
      letGoOf(boss);
    }
    throw error;
  }
}

/** Ends an instance's timers: it would ask for its queues once a minute for as long as the process lives. */
function letGoOf(boss: PgBoss): void {
  boss.stop({ graceful: false }).catch((error) => log.warn({ err: error }, "a job queue could not be let go of"));
}

/**
 * Takes one job of a queue, for a process that is no worker: keeps its heart beating while `run` works, and tells the
 * queue what came of it.
 *
 * @returns false where no job was there to take.
 */
export async function takeOne(queue: QueueName, run: (data: object) => Promise<void>): Promise<boolean> {
  const boss = await enqueuer();
  const [job] = await withEnqueuer((fetcher) => fetcher.fetch<object>(queue));
  if (!job) return false;
  const heartbeat = setInterval(() => keepAlive(boss, queue, job), (heartbeatSeconds / 3) * 1000);
  try {
    await run(job.data);
  } catch (error) {
    await boss.fail(queue, job, { message: (error as Error).name });
    return true;
  } finally {
    clearInterval(heartbeat);
  }
  await boss.complete(queue, job);
  return true;
}

/** A beat that is lost is logged only: the next one comes in time, or else the job goes to another. */
function keepAlive(boss: PgBoss, queue: QueueName, job: Job<object>): void {
  boss.touch(queue, job).catch((error) => log.warn({ err: error }, "a job's heartbeat was lost"));
}

/** Gives back the jobs whose process fell silent and removes ended ones, as a running worker does all the time. */
export async function superviseQueues(): Promise<void> {
  await withEnqueuer((boss) => boss.supervise(undefined, { reindex: false }));
}

/**
 * Whether an entry of the queues stands for an ingest job: one that waits, runs, or is left to be given up on.
 *
 * @param jobId SQL of the job's id, with its table: the queue has a column `id` of its own.
 */
export const hasEntrySql = (jobId: string) =>
  `exists (select 1 from pgboss.job where name in ('${queues.ingest}', '${queues.ingestDead}')
     and state < 'completed' and data ->> 'jobId' = ${jobId}::text)`;

/**
 * A worker's instance, with its own connections and LISTEN. The caller starts and stops it.
 *
 * What it writes itself (taken, done, to be tried again) does not wait for the disk: the domain's rows hold the truth, and
 * a job that a crash of the database gives out again finds itself done.
 */
export function makeWorkerBoss(databaseUrl: string): PgBoss {
  const connection = new URL(databaseUrl);
  const given = connection.searchParams.get("options");
  connection.searchParams.set("options", [...(given ? [given] : []), "-c synchronous_commit=off"].join(" "));
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
