import "server-only";
import pg from "pg";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";
import { log } from "#lib/core/log";

const connections = oncePerProcess("connections of the queue", (): { left?: number } => ({}));

/** A job must never wait for another job's connection. */
const perJob = 2;
const least = perJob + 1;
const defaults = { web: 10, workerWithoutJobs: 8 };

/** Call it before the pool is made. */
export function leaveConnections(count: number): void {
  connections.left = count;
}

export function poolSize(): number {
  const { DATABASE_POOL_MAX, WORKER_CONCURRENCY } = env();
  const { left } = connections;
  const byDefault = left === undefined ? defaults.web : defaults.workerWithoutJobs + perJob * WORKER_CONCURRENCY;
  return Math.max(least, (DATABASE_POOL_MAX ?? byDefault) - (left ?? 0));
}

export function jobsAtOnce(): number {
  return Math.min(env().WORKER_CONCURRENCY, Math.floor((poolSize() - 1) / perJob));
}

type RunQuery = (first: string | pg.QueryConfig, ...rest: unknown[]) => Promise<pg.QueryResult>;

/** In seconds, 0 for none. */
type StatementLimit = { usual: number; wanted: () => number };

/** Behind a pooler in transaction mode (PgBouncer) a setting of the session would reach other clients. */
export class LimitedPool extends pg.Pool {
  isPooled = false;
  readonly #limit: StatementLimit;

  constructor(options: pg.PoolConfig, limit: StatementLimit) {
    super(options);
    this.#limit = limit;
    this.options.onConnect = (client) => this.#prepare(client as pg.PoolClient);
  }

  override query = (async (first: string | pg.QueryConfig, ...rest: unknown[]) => {
    const client = await this.connect();
    const statement = this.isPooled && typeof first === "object" ? { ...first, name: "" } : first;
    const run = () => (client.query as RunQuery).call(client, statement, ...rest);
    const setLimit = this.#limitStatement();
    return setLimit ? runInTransaction(client, `begin${setLimit}`, run) : runAndRelease(client, run);
  }) as pg.Pool["query"];

  #limitStatement(): string {
    const { usual, wanted } = this.#limit;
    return wanted() === (this.isPooled ? 0 : usual) ? "" : `; set local statement_timeout = '${wanted()}s'`;
  }

  async #prepare(client: pg.PoolClient): Promise<void> {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    // A pooler gives each client its own number for cancelling.
    const isPooled = rows[0]?.pid !== (client as unknown as { processID: number }).processID;
    if (isPooled && !this.isPooled)
      log.info("a connection pooler is in front of the database: limits are set per transaction");
    this.isPooled = isPooled;
    if (!isPooled && this.#limit.usual > 0) await client.query(`set statement_timeout = '${this.#limit.usual}s'`);
    const run: RunQuery = (...values) => Reflect.apply(pg.Client.prototype.query, client, values);
    const withLimit: RunQuery = (first, ...rest) => {
      const isBegin = typeof first === "object" && first.text === "BEGIN";
      return run(isBegin ? { ...first, text: `BEGIN${this.#limitStatement()}` } : first, ...rest);
    };
    client.query = withLimit as typeof client.query;
  }
}

async function runAndRelease<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  let failure: Error | undefined;
  try {
    return await work();
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

/** A client that can't be rolled back is closed. */
export async function runInTransaction<T>(
  client: pg.PoolClient,
  opening: string,
  work: (opened: unknown) => Promise<T>,
): Promise<T> {
  let broken: Error | undefined;
  try {
    const result = await work(await client.query(opening));
    const { command } = await client.query("commit");
    // After a failed statement whose error was swallowed, PostgreSQL answers a commit by rolling back.
    if (command !== "COMMIT") throw new Error("the transaction was rolled back instead of committed");
    return result;
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

type Context = { get?(): { waitUntil?(work: Promise<unknown>): void } | undefined };
const contextKey = Symbol.for("@vercel/request-context");

export const idleMs = (): number => (env().VERCEL ? 5000 : 30_000);

/** Vercel suspends a process between requests, when its idle connections would stay open until PostgreSQL has none left. */
export function closeBeforeSuspension(pool: pg.Pool): void {
  if (!env().VERCEL) return;
  let sleepAgain = (): void => {};
  pool.on("release", () => {
    sleepAgain();
    const context = (globalThis as { [key: symbol]: Context | undefined })[contextKey];
    context?.get?.()?.waitUntil?.(
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, idleMs() + 100);
        sleepAgain = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    );
  });
}
