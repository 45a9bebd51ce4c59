// A statement in a transaction of `pg` or of Prisma, for what both kinds of transactions have to do.
import "server-only";
import type { Db, Queryable } from "#lib/db/client";

export type Transaction = Queryable | Db;

/** Runs a statement. Prisma sends values without types: cast each parameter. @returns its rows */
export async function run<T extends object>(tx: Transaction, text: string, values: unknown[]): Promise<T[]> {
  return "query" in tx ? (await tx.query<T>(text, values)).rows : tx.$queryRawUnsafe<T[]>(text, ...values);
}
