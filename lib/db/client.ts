import "server-only";
import { AsyncLocalStorage } from "node:async_hooks";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { escapeLiteral } from "pg";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requiredEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import { whileWanted } from "#lib/db/cancel";
import { closeBeforeSuspension, idleMs, LimitedPool, poolSize, runInTransaction } from "#lib/db/pool";
import { withRequiredAuth } from "#lib/db/required-auth";
import { type Prisma, PrismaClient } from "#lib/generated/prisma/client";

export type Queryable = pg.Pool | pg.PoolClient;

/** Prisma, or one of its transactions. */
export type Db = Prisma.TransactionClient;

type Connections = { pool: LimitedPool; prisma?: PrismaClient };

type Database = { connections?: Connections | undefined; statementSeconds?: number | undefined };
const database = oncePerProcess("database", (): Database => ({}));
const patience = oncePerProcess("patience", () => new AsyncLocalStorage<true>());

/** Limits statements of this process, but for those of `transaction` and `patiently`. */
export function limitStatements(seconds: number | undefined): void {
  database.statementSeconds = seconds;
}

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
    // A client has to learn within two seconds that the database is unreachable.
    connectionTimeoutMillis: 1500,
    idleTimeoutMillis: idleMs(),
    allowExitOnIdle: true,
    application_name: "spoor",
  };
  const created = new LimitedPool(options, { usual, wanted });
  // Without a listener, an idle connection that breaks (a restarted server) would end the process.
  created.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  // so would one that breaks inside a transaction
  created.on("connect", (client) => client.on("error", () => {}));
  closeBeforeSuspension(created);
  return created;
}

/** Returns false behind a pooler in transaction mode. */
export async function hasSessions(): Promise<boolean> {
  const { pool } = connections();
  (await pool.connect()).release();
  return !pool.isPooled;
}

export const pool = (): pg.Pool => connections().pool;

export function prisma(): PrismaClient {
  const made = connections();
  made.prisma ??= new PrismaClient({
    adapter: new PrismaPg(made.pool, { disposeExternalPool: false }),
    // Prisma's own 5 s would roll back a transaction that only waits for a lock.
    transactionOptions: { maxWait: 2000, timeout: 60_000 },
  });
  return made.prisma;
}

/** By `performance.now()`. */
const plansDiscardedAt = new WeakMap<pg.PoolClient, number>();
const maxPlanAgeMs = 1000;

/** Cached plans of foreign key checks, planned while a table was empty, would read all of a user's traces for every message. */
export function transaction<T>(work: (tx: pg.PoolClient) => Promise<T>, settings: Settings = {}): Promise<T> {
  const all: Settings = { ...(database.statementSeconds !== undefined && { statement_timeout: "0" }), ...settings };
  return within((tx) => [...freshPlans(tx), "begin", ...setLocal(all)], work);
}

/** Runs a read-only transaction with one snapshot. @param signal cancels its statements in PostgreSQL */
export function snapshot<T>(
  work: (tx: pg.PoolClient) => Promise<T>,
  settings: Settings = {},
  signal?: AbortSignal,
): Promise<T> {
  const all = { statement_timeout: `${limits.reads.statementSeconds}s`, ...settings } as const;
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

/** Together these identify a transaction, whoever gets the backend next. */
type Identity = { pid: number; began: string };

const identify = "select pg_backend_pid() as pid, extract(epoch from now())::text as began";

const readIdentity = (opened: unknown) => ([opened].flat() as pg.QueryResult<Identity>[]).at(-1)?.rows[0];

/** Cancels nothing if the backend is another client's by then. */
async function cancelStatement(transaction: Identity | undefined): Promise<void> {
  await pool()
    .query(
      `select pg_cancel_backend(pid) from pg_stat_activity
       where pid = $1 and extract(epoch from xact_start) = $2::numeric`,
      [transaction?.pid, transaction?.began],
    )
    .catch((error) => log.warn({ err: error }, "a statement could not be cancelled; it ends at its timeout"));
}

export type Settings = Readonly<
  Record<string, `${number}` | `${number}ms` | `${number}s` | "on" | "off" | `spoor ${string}`>
>;

const setLocal = (settings: Settings) =>
  Object.entries(settings).map(([name, value]) => `set local ${name} = ${escapeLiteral(value)}`);

function freshPlans(tx: pg.PoolClient): string[] {
  const now = performance.now();
  // behind a pooler each transaction may get another backend
  if (connections().pool.isPooled) return ["discard plans"];
  if (now - (plansDiscardedAt.get(tx) ?? 0) < maxPlanAgeMs) return [];
  plansDiscardedAt.set(tx, now);
  return ["discard plans"];
}

export async function allowLong(tx: Db): Promise<void> {
  await tx.$executeRaw`set local statement_timeout = 0`;
}

export async function closeDatabase(): Promise<void> {
  const made = database.connections;
  database.connections = undefined;
  await made?.prisma?.$disconnect();
  await made?.pool.end();
}
