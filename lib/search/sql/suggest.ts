// SQL: distinct values of a bounded index range.
import "server-only";
import type { PoolClient } from "pg";
import { Prisma } from "#lib/generated/prisma/client";

type NameKind = "file" | "project" | "branch" | "agent" | "model";

const maxRows = 2000;

/** Ignores case; the most frequent first. */
export async function readNames(
  tx: PoolClient,
  userId: string,
  kind: NameKind,
  beginning: string,
  limit: number,
): Promise<string[]> {
  const pattern = `${beginning.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  const { rows } = await tx.query<{ name: string }>(Prisma.sql`
    select name from (${sources[kind](userId, beginning.toLowerCase())} limit ${maxRows}) as read
    where lower(name) like ${pattern} group by name order by count(*) desc, name limit ${limit}`);
  return rows.map(({ name }) => name);
}

const newest = Prisma.raw("deleted_at is null order by activity_at desc, id desc");

const sources: Record<NameKind, (userId: string, lower: string) => Prisma.Sql> = {
  // File names are stored in lower case.
  file: (userId, lower) => Prisma.sql`select name from trace_file where user_id = ${userId} and counted
    and name >= ${lower} and name < ${`${lower}\u{10ffff}`}`,
  project: (userId) => Prisma.sql`select name from project where user_id = ${userId} and merged_into is null`,
  branch: (userId) => Prisma.sql`select branch as name from trace_branch where user_id = ${userId}`,
  agent: (userId) => Prisma.sql`select source as name from trace where user_id = ${userId} and ${newest}`,
  model: (userId) => Prisma.sql`select model as name from trace where user_id = ${userId} and ${newest}`,
};
