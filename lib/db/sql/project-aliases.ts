// Aliases of projects, for the ledger and for changes by people. SQL: Prisma can't join lists of values.
import "server-only";
import type { PoolClient } from "pg";
import type { Queryable } from "#lib/db/client";
import type { ProjectAlias } from "#lib/transcript/project";

export type StoredAlias = ProjectAlias & {
  projectId: string;
  /** Placed by a person, so nothing else moves it. */
  isPlaced: boolean;
};

export const toAliasColumns = (aliases: ProjectAlias[]) => [
  aliases.map(({ kind }) => kind),
  aliases.map(({ machine }) => machine),
  aliases.map(({ value }) => value),
];

export async function readAliases(db: Queryable, userId: string, wanted: ProjectAlias[]): Promise<StoredAlias[]> {
  const { rows } = await db.query<StoredAlias>(
    `select alias.kind, alias.machine, alias.value, alias.project_id as "projectId",
       alias.moved_from is not null as "isPlaced"
     from unnest($2::text[], $3::text[], $4::text[]) as wanted (kind, machine, value)
     join project_alias alias on alias.user_id = $1::uuid and alias.kind = wanted.kind and alias.machine = wanted.machine
       and alias.value = wanted.value`,
    [userId, ...toAliasColumns(wanted)],
  );
  return rows;
}

/** Merges a project into another one, which has all of its aliases already. */
export async function giveAway(tx: PoolClient, userId: string, id: string, into: string): Promise<void> {
  await tx.query(
    `update project set merged_into = $3, unsettled = abs(unsettled) + 1
     where user_id = $1 and (id = $2 or merged_into = $2)`,
    [userId, id, into],
  );
}

/**
 * Marks projects whose traces must be compared with their aliases.
 * @param moving whether some traces may have to leave
 */
export async function unsettle(tx: PoolClient, userId: string, ids: string[], moving: boolean): Promise<void> {
  await tx.query(
    `update project set unsettled = abs(unsettled) + 1, moving = moving or $3 where user_id = $1 and id = any($2)`,
    [userId, ids, moving],
  );
}

/** Tells a running comparison that traces joined these projects meanwhile. */
export async function noteArrivals(tx: PoolClient, userId: string, ids: string[]): Promise<void> {
  await tx.query("update project set unsettled = unsettled + 1 where user_id = $1 and id = any($2) and unsettled > 0", [
    userId,
    ids,
  ]);
}
