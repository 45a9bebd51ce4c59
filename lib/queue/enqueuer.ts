// For processes other than workers.
import "server-only";
import { type Db, fromPrisma, type Job, PgBoss } from "pg-boss";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { log } from "#lib/core/log";
import { pool, type Queryable } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import { heartbeatSeconds, type QueueName } from "#lib/queue/queues";

const enqueuer = oncePerProcess("enqueuer", (): { boss?: Promise<PgBoss> | undefined } => ({}));

type QueueTransaction = Queryable | Prisma.TransactionClient;

const executor = (runner: QueueTransaction): Db =>
  "query" in runner ? { executeSql: (text, values) => runner.query(text, values as unknown[]) } : fromPrisma(runner);

function startEnqueuer(): Promise<PgBoss> {
  enqueuer.boss ??= (async () => {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => pool().query(text, values as unknown[]) },
      supervise: false,
      monitorIntervalSeconds: 1, // for `superviseQueues`
      schedule: false,
      migrate: false,
      createSchema: false,
    });
    boss.on("error", (error) => log.warn({ err: error }, "pg-boss reported an error"));
    return boss.start();
  })().catch((error) => {
    enqueuer.boss = undefined;
    throw error;
  });
  return enqueuer.boss;
}

/** The first start needs its own connections, so call it before a transaction. */
export async function prepareQueue(): Promise<void> {
  await startEnqueuer();
}

/** @param getPlace how many entries go before a payload's */
export async function enqueue<P extends object>(
  tx: QueueTransaction,
  queue: QueueName,
  payloads: P[],
  getPlace: (payload: P) => number = () => 0,
): Promise<void> {
  if (payloads.length === 0) return;
  const jobs = payloads.map((data) => ({ data, priority: -getPlace(data) }));
  await withEnqueuer((boss) => boss.insert(queue, jobs, { db: executor(tx) }));
}

async function withEnqueuer<T>(work: (boss: PgBoss) => Promise<T>): Promise<T> {
  const starting = startEnqueuer();
  const boss = await starting;
  try {
    return await work(boss);
  } catch (error) {
    // An instance that failed to read its queues at its start never recovers.
    if (enqueuer.boss === starting) {
      enqueuer.boss = undefined;
      discard(boss);
    }
    throw error;
  }
}

/** Its timers would poll the queues once a minute. */
function discard(boss: PgBoss): void {
  boss.stop({ graceful: false }).catch((error) => log.warn({ err: error }, "a pg-boss instance could not be stopped"));
}

export async function takeOne(queue: QueueName, run: (data: object) => Promise<void>): Promise<boolean> {
  const boss = await startEnqueuer();
  const [job] = await withEnqueuer((fetcher) => fetcher.fetch<object>(queue));
  if (!job) return false;
  const heartbeat = setInterval(() => sendHeartbeat(boss, queue, job), (heartbeatSeconds / 3) * 1000);
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

/** Without the next heartbeat another process takes the entry. */
function sendHeartbeat(boss: PgBoss, queue: QueueName, job: Job<object>): void {
  boss.touch(queue, job).catch((error) => log.warn({ err: error }, "a queue entry's heartbeat was lost"));
}

export async function superviseQueues(): Promise<void> {
  await withEnqueuer((boss) => boss.supervise(undefined, { reindex: false }));
}
