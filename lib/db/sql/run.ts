// SQL: statements for the transactions of both `pg` and Prisma, and advisory locks.
import "server-only";
import type { PoolClient } from "pg";
import type { Db, Queryable } from "#lib/db/client";

export type Transaction = Queryable | Db;

/** Prisma sends values without types, so each parameter needs a cast. */
export async function run<T extends object>(tx: Transaction, text: string, values: unknown[]): Promise<T[]> {
  return "query" in tx ? (await tx.query<T>(text, values)).rows : tx.$queryRawUnsafe<T[]>(text, ...values);
}

const seeds = { projects: 5_620_260_017, findings: 5_620_260_018, originals: 5_620_260_019 };

/** Prisma can't read a result of the type void. */
async function lock(tx: Transaction, userId: string, part: keyof typeof seeds): Promise<void> {
  const text =
    "select 1 as locked from (select pg_advisory_xact_lock(hashtextextended($1::text, $2::bigint))) as waited";
  await run(tx, text, [userId, seeds[part]]);
}

export const lockProjects = (tx: PoolClient, userId: string): Promise<void> => lock(tx, userId, "projects");

/** Otherwise a ruling made while the ledger runs would update rows that it is about to replace. */
export const lockFindings = (tx: Transaction, userId: string): Promise<void> => lock(tx, userId, "findings");

/** Held while references to parts of exact copies change, so that no part is deleted while a new copy refers to it. */
export const lockOriginals = (tx: Transaction, userId: string): Promise<void> => lock(tx, userId, "originals");
