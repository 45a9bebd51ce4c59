import "server-only";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { requiredEnv } from "#lib/env";
import { PrismaClient } from "#lib/generated/prisma/client";
import { log } from "#lib/log";

/** A query runner: the pool, or one client of it inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient;

const globals = globalThis as typeof globalThis & { spoorPool?: pg.Pool; spoorPrisma?: PrismaClient };

/** The process's one connection pool, made at the first call. Prisma and `pg` share it. */
export function pool(): pg.Pool {
  if (globals.spoorPool) return globals.spoorPool;
  const made = new pg.Pool({
    connectionString: requiredEnv("DATABASE_URL"),
    max: 16,
    // Below the two seconds within which a client is to hear that the database is away.
    connectionTimeoutMillis: 1500,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    application_name: "spoor",
  });
  // An idle connection that breaks (a restarted server) is dropped from the pool; without a listener it would end the process.
  made.on("error", (error) => log.warn({ err: error }, "an idle database connection broke"));
  // The pool listens to idle connections only. One that breaks between two statements of a transaction fails the next of
  // them; without a listener of its own it would end the process.
  made.on("connect", (client) => client.on("error", () => {}));
  globals.spoorPool = made;
  return made;
}

/** Prisma on the shared pool, for ordinary reads and writes. */
export function prisma(): PrismaClient {
  globals.spoorPrisma ??= new PrismaClient({ adapter: new PrismaPg(pool(), { disposeExternalPool: false }) });
  return globals.spoorPrisma;
}

/**
 * Runs `work` in one transaction on one connection: committed when it returns, rolled back when it throws.
 * A connection that could not even be rolled back is thrown away instead of going back to the pool.
 */
export async function transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool().connect();
  let broken: Error | undefined;
  try {
    await tx.query("begin");
    const result = await work(tx);
    await tx.query("commit");
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

/** Ends the process's connections. */
export async function closeDatabase(): Promise<void> {
  await globals.spoorPrisma?.$disconnect();
  await globals.spoorPool?.end();
  globals.spoorPrisma = undefined;
  globals.spoorPool = undefined;
}
