// SQL: set-based updates that skip locked rows, and advisory locks.
import "server-only";
import type { PoolClient } from "pg";
import { pool } from "#lib/db/client";
import { toAliasColumns } from "#lib/db/sql/project-aliases";
import type { ProjectAlias, Whereabouts } from "#lib/transcript/project";

export type Unsettled = { userId: string; id: string; mergedInto: string | null; unsettled: number; moving: boolean };

/** One project of each user first, since any of them may have to wait. */
export async function findUnsettled(limit: number): Promise<Unsettled[]> {
  const { rows } = await pool().query<Unsettled>(
    `select user_id as "userId", id, merged_into as "mergedInto", unsettled, moving
     from project where unsettled > 0
     order by row_number() over (partition by user_id order by random()), random() limit $1`,
    [limit],
  );
  return rows;
}

export async function readUnsettled(userId: string, id: string): Promise<Unsettled | undefined> {
  const { rows } = await pool().query<Unsettled>(
    `select user_id as "userId", id, merged_into as "mergedInto", unsettled, moving
     from project where user_id = $1 and id = $2 and unsettled > 0`,
    [userId, id],
  );
  return rows[0];
}

/**
 * Skips traces that an upload has locked.
 * @returns the number of moved traces
 */
export async function moveTraces(
  tx: PoolClient,
  userId: string,
  from: string,
  into: string,
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `update trace set project_id = $3 from (
       select id from trace where user_id = $1 and project_id = $2 limit $4 for no key update skip locked) as moved
     where trace.user_id = $1 and trace.id = moved.id`,
    [userId, from, into, limit],
  );
  return rowCount ?? 0;
}

export async function moveUsage(tx: PoolClient, userId: string, from: string, into: string): Promise<void> {
  await tx.query("update usage_facets set project_id = $3 where user_id = $1 and project_id = $2", [
    userId,
    from,
    into,
  ]);
}

/** Deleted traces count, and so do projects merged into it. */
const isNeeded = `exists (select 1 from trace where trace.user_id = $1 and trace.project_id = $2 and deleted_at is null)
  or exists (select 1 from project other where other.user_id = $1 and other.merged_into = $2)`;

export async function removeProject(
  tx: PoolClient,
  { userId, id, unsettled }: Pick<Unsettled, "userId" | "id" | "unsettled">,
): Promise<void> {
  const { rows } = await tx.query<{ needed: boolean }>(`select ${isNeeded} as needed`, [userId, id]);
  if (rows[0]?.needed) return;
  const owned = [userId, id, unsettled];
  const { rowCount } = await tx.query("select 1 from project where user_id = $1 and id = $2 and unsettled = $3", owned);
  if (rowCount === 0) return;
  await tx.query("delete from project_alias where user_id = $1 and project_id = $2", [userId, id]);
  await tx.query("delete from project where user_id = $1 and id = $2 and unsettled = $3", owned);
}

export type PlacedTrace = Whereabouts & { id: string; activityAt: Date };

export async function readTraces(
  userId: string,
  projectId: string,
  after: PlacedTrace | undefined,
  limit: number,
): Promise<PlacedTrace[]> {
  type Row = Omit<PlacedTrace, "metadata"> & { cwd: unknown; repository: unknown; gitDir: unknown };
  const { rows } = await pool().query<Row>(
    `select id, project, machine, activity_at as "activityAt", metadata->'cwd' as cwd, metadata->'repository' as repository,
       metadata->'gitDir' as "gitDir"
     from trace where user_id = $1 and project_id = $2 and deleted_at is null
       and (activity_at, id) < (coalesce($3, 'infinity'::timestamptz), coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
     order by activity_at desc, id desc limit $5`,
    [userId, projectId, after?.activityAt, after?.id, limit],
  );
  return rows.map(({ cwd, repository, gitDir, ...trace }) => ({ ...trace, metadata: { cwd, repository, gitDir } }));
}

/**
 * Skips traces that an upload has locked.
 * @returns the number of marked traces
 */
export async function markDue(userId: string, ids: string[]): Promise<number> {
  const { rowCount } = await pool().query(
    `update trace set ledger_due = true from (
       select id from trace where user_id = $1 and id = any($2) for no key update skip locked) as moved
     where trace.user_id = $1 and trace.id = moved.id`,
    [userId, ids],
  );
  return rowCount ?? 0;
}

/**
 * Traces may still be moving to a project that has their alias already: another comparison runs, or the ledger is
 * behind.
 */
export async function areMoving(tx: PoolClient, userId: string, except: string): Promise<boolean> {
  const { rows } = await tx.query<{ moving: boolean }>(
    `select exists (select 1 from project where user_id = $1 and unsettled > 0 and id <> $2 and (moving or merged_into is not null))
       or exists (select 1 from trace where user_id = $1 and ledger_due and project_id is not null and deleted_at is null
         and stored_at < now() - interval '30 seconds') as moving`,
    [userId, except],
  );
  return rows[0]?.moving === true;
}

export async function endSettling(
  tx: PoolClient,
  { userId, id, unsettled }: Pick<Unsettled, "userId" | "id" | "unsettled">,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update project set unsettled = -unsettled, moving = false where user_id = $1 and id = $2 and unsettled = $3`,
    [userId, id, unsettled],
  );
  return (rowCount ?? 0) > 0;
}

/** Aliases that nobody placed by hand. */
export async function readOwnAliases(from: { userId: string; id: string }): Promise<ProjectAlias[]> {
  const { rows } = await pool().query<ProjectAlias>(
    "select kind, machine, value from project_alias where user_id = $1 and project_id = $2 and moved_from is null",
    [from.userId, from.id],
  );
  return rows;
}

export async function removeAliases(
  tx: PoolClient,
  { userId, id }: { userId: string; id: string },
  unused: ProjectAlias[],
): Promise<void> {
  await tx.query(
    `delete from project_alias using unnest($3::text[], $4::text[], $5::text[]) as unused (kind, machine, value)
     where project_alias.user_id = $1 and project_id = $2 and moved_from is null and project_alias.kind = unused.kind
       and project_alias.machine = unused.machine and project_alias.value = unused.value`,
    [userId, id, ...toAliasColumns(unused)],
  );
}
