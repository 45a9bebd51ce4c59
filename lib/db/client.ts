import "server-only";
import { AsyncLocalStorage } from "node:async_hooks";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { escapeLiteral } from "pg";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { whileWanted } from "#lib/db/cancel";
import { LimitedPool, runInTransaction } from "#lib/db/limited-pool";
import { poolSize } from "#lib/db/pool-size";
import { withRequiredAuth } from "#lib/db/required-auth";
import { closeBeforeSuspension, idleMs } from "#lib/db/suspension";
import { requiredEnv } from "#lib/env";
import { type Prisma, PrismaClient } from "#lib/generated/prisma/client";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

/** A query runner: the pool, or one client of it inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient;

/** Prisma, or one of its transactions: what a helper takes that may run inside its caller's transaction. */
export type Db = Prisma.TransactionClient;

/** A pool, and Prisma on it. */
type Connections = { pool: LimitedPool; prisma?: PrismaClient };

type Database = { connections?: Connections | undefined; statementSeconds?: number | undefined };
const database = oncePerProcess("database", (): Database => ({}));
const patience = oncePerProcess("patience", () => new AsyncLocalStorage<true>());

/** From now on every statement of this process ends after so many seconds, if any; not those of `transaction` and `patiently`. */
export function limitStatements(seconds: number | undefined): void {
  database.statementSeconds = seconds;
}

/** Runs `work`, whose statements may take as long as they need. */
export const patiently = <T>(work: () => Promise<T>): Promise<T> => patience.run(true, work);

function connections(): Connections {
  database.connections ??= { pool: makePool() };
  return database.connections;
}

function makePool(): LimitedPool {
  const usual = database.statementSeconds ?? 0;
  const wanted = () => (patience.getStore() ? 0 : (database.statementSeconds ?? 0));
  const options = {
    connectionString: withRequiredAuth(requiredEnv("DATABASE_URL")),
    max: poolSize(),
    // Below the two seconds within which a client has to learn that the database is unreachable.
    connectionTimeoutMillis: 1500,
    idleTimeoutMillis: idleMs(),
    allowExitOnIdle: true,
    application_name: "spoor",
  };
  const created = new LimitedPool(options, { usual, wanted });
  // The pool drops an idle connection that breaks (a restarted server); without a listener the error would end the process.
  created.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  // The pool listens to idle connections only. One that breaks between two statements of a transaction fails the next
  // statement; without its own listener it would end the process.
  created.on("connect", (client) => client.on("error", () => {}));
  closeBeforeSuspension(created);
  return created;
}

/** Whether a connection is a session of PostgreSQL's: not where a pooler in transaction mode is in front of it. */
export async function hasSessions(): Promise<boolean> {
  const { pool } = connections();
  (await pool.connect()).release();
  return !pool.isPooled;
}

/** The process's connection pool, created at the first call. Prisma and `pg` share it. */
export const pool = (): pg.Pool => connections().pool;

/** Prisma on the shared pool, for ordinary reads and writes. */
export function prisma(): PrismaClient {
  const made = connections();
  made.prisma ??= new PrismaClient({
    adapter: new PrismaPg(made.pool, { disposeExternalPool: false }),
    // Prisma's own 5 s would roll back a transaction that only waited for another's lock.
    transactionOptions: { maxWait: 2000, timeout: 60_000 },
  });
  return made.prisma;
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
  const all: Settings = { ...(database.statementSeconds !== undefined && { statement_timeout: "0" }), ...settings };
  return within((tx) => [...freshPlans(tx), "begin", ...setLocal(all)], work);
}

/**
 * Runs `work` in a read-only transaction whose statements all see the same snapshot, and each of which ends after ten seconds
 * on every host.
 *
 * @param signal cancels them in PostgreSQL.
 */
export function snapshot<T>(
  work: (tx: pg.PoolClient) => Promise<T>,
  settings: Settings = {},
  signal?: AbortSignal,
): Promise<T> {
  const all = { statement_timeout: `${limits.reads.statementSeconds}s`, ...settings } as const;
  // The last statement's row: behind a pooler the transaction's own backend, not the connection's.
  const opening = ["begin isolation level repeatable read, read only", ...setLocal(all), identify];
  return within(() => opening, work, signal);
}

async function within<T>(
  opening: (tx: pg.PoolClient) => string[],
  work: (tx: pg.PoolClient) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const tx = await pool().connect();
  return runInTransaction(tx, opening(tx).join("; "), (opened) => {
    const run = () => work(tx);
    return signal ? whileWanted(signal, () => cancelStatement(readIdentity(opened)), run) : run();
  });
}

/** A transaction's backend, and when it began: together no other transaction has them, whoever gets the backend next. */
type Identity = { pid: number; began: string };

const identify = "select pg_backend_pid() as pid, extract(epoch from now())::text as began";

/** Several statements have several results, the last of which is of the last. */
const readIdentity = (opened: unknown) => ([opened].flat() as pg.QueryResult<Identity>[]).at(-1)?.rows[0];

/** Cancels what a transaction runs, wherever this arrives late: behind a pooler its backend may be another client's by then. */
async function cancelStatement(transaction: Identity | undefined): Promise<void> {
  await pool()
    .query(
      `select pg_cancel_backend(pid) from pg_stat_activity
       where pid = $1 and extract(epoch from xact_start) = $2::numeric`,
      [transaction?.pid, transaction?.began],
    )
    .catch((error) => log.warn({ err: error }, "a statement could not be cancelled; it ends at its timeout"));
}

/** Settings of PostgreSQL for one transaction. */
export type Settings = Readonly<
  Record<string, `${number}` | `${number}ms` | `${number}s` | "on" | "off" | `spoor ${string}`>
>;

const setLocal = (settings: Settings) =>
  Object.entries(settings).map(([name, value]) => `set local ${name} = ${escapeLiteral(value)}`);

function freshPlans(tx: pg.PoolClient): string[] {
  const now = performance.now();
  // Behind a pooler the plans are another backend's each time.
  if (connections().pool.isPooled) return ["discard plans"];
  if (now - (plansDiscardedAt.get(tx) ?? 0) < maxPlanAgeMs) return [];
  plansDiscardedAt.set(tx, now);
  return ["discard plans"];
}

/** Lets the statements of one of Prisma's transactions take as long as it may, as those of `transaction` do. */
export async function allowLong(tx: Db): Promise<void> {
  await tx.$executeRaw`set local statement_timeout = 0`;
}

/** Closes the process's connections. */
export async function closeDatabase(): Promise<void> {
  const made = database.connections;
  database.connections = undefined;
  await made?.prisma?.$disconnect();
  await made?.pool.end();
}
