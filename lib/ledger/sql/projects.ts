// SQL: Prisma can't join lists of values.
import "server-only";
import type { PoolClient } from "pg";

import { toAliasColumns } from "#lib/db/sql/project-aliases";
import type { ProjectAlias } from "#lib/transcript/project";

export type StoredProject = {
  id: string;
  name: string;
  renamed: boolean;
  aliases: number;
  hasRemote: boolean;
};

export async function readProjects(tx: PoolClient, userId: string, ids: string[]): Promise<StoredProject[]> {
  const { rows } = await tx.query<StoredProject>(
    `select project.id, project.name, project.renamed, count(alias.kind)::int as aliases,
       coalesce(bool_or(alias.kind = 'remote'), false) as "hasRemote"
     from project left join project_alias alias on alias.user_id = $1::uuid and alias.project_id = project.id
     where project.user_id = $1::uuid and project.id = any($2) group by project.id, project.name, project.renamed`,
    [userId, ids],
  );
  return rows;
}

export async function readPlaces(tx: PoolClient, userId: string, traceIds: string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; projectId: string }>(
    `select id, project_id as "projectId" from trace where user_id = $1 and id = any($2) and project_id is not null`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, projectId }) => [id, projectId]));
}

export async function insertProjects(
  tx: PoolClient,
  userId: string,
  projects: { id: string; name: string }[],
): Promise<void> {
  await tx.query(
    `insert into project (user_id, id, name) select $1, id, name from unnest($2::uuid[], $3::text[]) as added (id, name)`,
    [userId, projects.map(({ id }) => id), projects.map(({ name }) => name)],
  );
}

/** @throws if another transaction outside the user's turn added one of them */
export async function insertAliases(
  tx: PoolClient,
  userId: string,
  aliases: (ProjectAlias & { projectId: string })[],
): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into project_alias (user_id, kind, machine, value, project_id)
     select $1, kind, machine, value, project_id
     from unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) as added (kind, machine, value, project_id)
     on conflict (user_id, kind, machine, value) do nothing`,
    [userId, ...toAliasColumns(aliases), aliases.map(({ projectId }) => projectId)],
  );
  if (rowCount !== aliases.length) throw new Error("another process added the same project; this is tried again");
}

export async function moveAlias(
  tx: PoolClient,
  userId: string,
  { kind, machine, value }: ProjectAlias,
  projectId: string,
): Promise<void> {
  await tx.query(
    `update project_alias set project_id = $5 where user_id = $1 and kind = $2 and machine = $3 and value = $4`,
    [userId, kind, machine, value, projectId],
  );
}

export async function respellAlias(
  tx: PoolClient,
  userId: string,
  { kind, machine, value }: ProjectAlias,
  spelling: string,
): Promise<void> {
  await tx.query(
    `update project_alias set value = $5 where user_id = $1 and kind = $2 and machine = $3 and value = $4`,
    [userId, kind, machine, value, spelling],
  );
}

export async function nameProject(
  tx: PoolClient,
  userId: string,
  { id, name, renamed }: Pick<StoredProject, "id" | "name" | "renamed">,
): Promise<void> {
  await tx.query("update project set name = $3, renamed = $4 where user_id = $1 and id = $2", [
    userId,
    id,
    name,
    renamed,
  ]);
}
