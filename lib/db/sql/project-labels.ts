// SQL: compares a name with all others of its user in one statement.
import "server-only";
import type { Queryable } from "#lib/db/client";

export type ProjectLabel = { name: string; distinction: string | null };

export const labelText = ({ name, distinction }: ProjectLabel): string =>
  distinction === null ? name : `${name} · ${distinction}`;

type LabelRow = { id: string; name: string; isShared: boolean; kind: string | null; machine: string; value: string };

/** A remote distinguishes projects of one name, otherwise a folder and its machine. */
export async function readProjectLabels(
  from: Queryable,
  userId: string,
  ids: string[],
): Promise<Map<string, ProjectLabel>> {
  if (ids.length === 0) return new Map();
  const { rows } = await from.query<LabelRow>(
    `with wanted as materialized (
       select id, name from project where user_id = $1 and id = any($2)
     ), shared as materialized (
       select name from project where user_id = $1 and merged_into is null and name in (select name from wanted)
       group by name having count(*) > 1
     ), first as (
       select distinct on (project_id) project_id, kind, machine, value from project_alias
       where user_id = $1 and project_id = any($2) order by project_id, kind = 'remote' desc, kind, value
     )
     select wanted.id, wanted.name, shared.name is not null as "isShared", first.kind, first.machine, first.value
     from wanted left join shared on shared.name = wanted.name left join first on first.project_id = wanted.id`,
    [userId, ids],
  );
  return new Map(
    rows.map((row) => [row.id, { name: row.name, distinction: row.isShared ? distinguishProject(row) : null }]),
  );
}

function distinguishProject({ kind, machine, value }: LabelRow): string | null {
  if (kind === "remote") return value;
  if (kind === "folder") return machine ? `${value} on ${machine}` : value;
  return kind === null ? null : "folder unknown";
}
