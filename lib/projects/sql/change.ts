// SQL: several aliases at once, under an advisory lock.
import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";
import { notFound } from "#lib/core/errors";
import { transaction } from "#lib/db/client";
import { giveAway, noteArrivals, toAliasColumns, unsettle } from "#lib/db/sql/project-aliases";
import { lockProjects } from "#lib/db/sql/run";
import type { ProjectAlias } from "#lib/transcript/project";

type Owned = { userId: string; id: string };

/**
 * Serializes changes to a user's projects.
 * @throws SpoorError `not_found` if the user is being deleted
 */
export const changing = <T>(userId: string, work: (tx: PoolClient) => Promise<T>): Promise<T> =>
  transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], true)).has(userId)) throw notFound();
    await lockProjects(tx, userId);
    return work(tx);
  });

/** Without projects that are merged into another one. */
export async function readNames(
  tx: PoolClient,
  userId: string,
  ids: string[],
): Promise<Map<string, { name: string; renamed: boolean }>> {
  const { rows } = await tx.query<{ id: string; name: string; renamed: boolean }>(
    "select id, name, renamed from project where user_id = $1 and id = any($2) and merged_into is null",
    [userId, ids],
  );
  return new Map(rows.map(({ id, ...names }) => [id, names]));
}

export async function mergeInto(tx: PoolClient, { userId, id }: Owned, into: string): Promise<void> {
  await tx.query("update project_alias set project_id = $3, moved_from = $2 where user_id = $1 and project_id = $2", [
    userId,
    id,
    into,
  ]);
  await giveAway(tx, userId, id, into);
  await noteArrivals(tx, userId, [into]);
  await takeSettings(tx, { userId, id }, into);
}

/** Masking rules apply to both; the budget moves unless the other project has one. */
async function takeSettings(tx: PoolClient, { userId, id }: Owned, into: string): Promise<void> {
  const ids = [userId, id, into];
  await tx.query(
    `update project set masks = true, masks_again_at = null where user_id = $1 and id = $3 and not masks
       and exists (select from project as merged where merged.user_id = $1 and merged.id = $2
         and (merged.masks or merged.masks_again_at <= now()))`,
    ids,
  );
  await tx.query(
    `update budget set value = $3 where user_id = $1 and facet = 'project' and value = $2
       and not exists (select from budget as other where other.user_id = $1 and other.facet = 'project' and other.value = $3)`,
    ids,
  );
  await tx.query("delete from budget where user_id = $1 and facet = 'project' and value = $2", ids.slice(0, 2));
}

type OwnAlias = ProjectAlias & { movedFrom: string | null };

export async function readProjectAliases(tx: PoolClient, { userId, id }: Owned): Promise<OwnAlias[]> {
  const { rows } = await tx.query<OwnAlias>(
    `select kind, machine, value, moved_from as "movedFrom" from project_alias where user_id = $1 and project_id = $2`,
    [userId, id],
  );
  return rows;
}

export async function splitOff(
  tx: PoolClient,
  { userId, id }: Owned,
  aliases: ProjectAlias[],
  added: { id: string; name: string; renamed: boolean },
): Promise<void> {
  await tx.query("insert into project (user_id, id, name, renamed) values ($1, $2, $3, $4)", [
    userId,
    added.id,
    added.name,
    added.renamed,
  ]);
  await tx.query(
    `update project_alias set project_id = $3, moved_from = $2
     from unnest($4::text[], $5::text[], $6::text[]) as split (kind, machine, value)
     where project_alias.user_id = $1 and project_id = $2 and project_alias.kind = split.kind
       and project_alias.machine = split.machine and project_alias.value = split.value`,
    [userId, id, added.id, ...toAliasColumns(aliases)],
  );
  // The remaining aliases were also assigned by the user, so a folder no longer follows its remote.
  await tx.query(
    "update project_alias set moved_from = $2 where user_id = $1 and project_id = $2 and moved_from is null",
    [userId, id],
  );
  await unsettle(tx, userId, [id], true);
}
