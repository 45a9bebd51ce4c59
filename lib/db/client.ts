import "server-only";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { env, requiredEnv } from "#lib/env";
import { type Prisma, PrismaClient } from "#lib/generated/prisma/client";
import { log } from "#lib/log";

/** A query runner: the pool, or one client of it inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient;

/** Prisma, or one of its transactions: what a helper takes that may run inside its caller's transaction. */
export type Db = Prisma.TransactionClient;

const globals = globalThis as typeof globalThis & { spoorPool?: pg.Pool; spoorPrisma?: PrismaClient };

/** The process's one connection pool, created at the first call. Prisma and `pg` share it. */
export function pool(): pg.Pool {
  if (globals.spoorPool) return globals.spoorPool;
  const created = new pg.Pool({
    connectionString: requiredEnv("DATABASE_URL"),
    // A job holds at most two connections, and must never wait for one that another job holds.
    max: Math.max(16, 2 * env().WORKER_CONCURRENCY + 4),
    // Below the two seconds within which a client has to learn that the database is unreachable.
    connectionTimeoutMillis: 1500,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    application_name: "spoor",
  });
  // The pool drops an idle connection that breaks (a restarted server); without a listener the error would end the process.
  created.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  // The pool listens to idle connections only. One that breaks between two statements of a transaction fails the next
  // statement; without its own listener it would end the process.
  created.on("connect", (client) => client.on("error", () => {}));
  globals.spoorPool = created;
  return created;
}

/** Prisma on the shared pool, for ordinary reads and writes. */
export function prisma(): PrismaClient {
  globals.spoorPrisma ??= new PrismaClient({
    adapter: new PrismaPg(pool(), { disposeExternalPool: false }),
    // Prisma's own 5 s would roll back a transaction that only waited for another's lock.
    transactionOptions: { maxWait: 2000, timeout: 60_000 },
  });
  return globals.spoorPrisma;
}

/** When each connection last discarded its plans, in milliseconds of `performance.now()`. */
const plansDiscardedAt = new WeakMap<pg.PoolClient, number>();
const maxPlanAgeMs = 1000;

/**
 * Runs `work` in one transaction on one connection: committed when it returns, rolled back when it throws.
 * A connection that can't be rolled back is closed instead of returned to the pool.
 *
 * Once a second a connection discards its plans. Those of foreign key checks are otherwise kept until the table is analysed:
 * planned while it was empty, they read all of a user's traces for every message (2,000 uploads of ten messages took 25 s,
 * the last ones 16 ms each in COPY alone; with this 3 ms).
 *
 * @param settings PostgreSQL settings of this transaction (`set local`).
 */
export function transaction<T>(work: (tx: pg.PoolClient) => Promise<T>, settings: Settings = {}): Promise<T> {
  return within((tx) => [...freshPlans(tx), "begin", ...setLocal(settings)], work);
}

/** Runs `work` in a read-only transaction whose statements all see the same snapshot. */
export function snapshot<T>(work: (tx: pg.PoolClient) => Promise<T>, settings: Settings = {}): Promise<T> {
  return within(() => ["begin isolation level repeatable read, read only", ...setLocal(settings)], work);
}

async function within<T>(
  opening: (tx: pg.PoolClient) => string[],
  work: (tx: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const tx = await pool().connect();
  let broken: Error | undefined;
  try {
    await tx.query(opening(tx).join("; "));
    const result = await work(tx);
    const { command } = await tx.query("commit");
    // After a failed statement whose error was swallowed, PostgreSQL answers a commit by rolling back.
    if (command !== "COMMIT") throw new Error("the transaction was rolled back instead of committed");
    return result;
  } catch (error) {
    await tx.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    tx.release(broken);
  }
}

/** Settings of PostgreSQL for one transaction: constants of the code, in forms that need no escaping. */
export type Settings = Readonly<Record<string, `${number}` | `${number}ms` | `${number}s` | "on" | "off">>;

const setLocal = (settings: Settings) =>
  Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`);

function freshPlans(tx: pg.PoolClient): string[] {
  const now = performance.now();
  if (now - (plansDiscardedAt.get(tx) ?? 0) < maxPlanAgeMs) return [];
  plansDiscardedAt.set(tx, now);
  return ["discard plans"];
}

/** Closes the process's connections. */
export async function closeDatabase(): Promise<void> {
  await globals.spoorPrisma?.$disconnect();
  await globals.spoorPool?.end();
  globals.spoorPrisma = undefined;
  globals.spoorPool = undefined;
}
