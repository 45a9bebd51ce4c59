// Names of projects, for every domain that shows them. SQL: it compares a name with all others of its user in one statement.
import "server-only";
import type { Queryable } from "#lib/db/client";

/** What a project is called. `distinction` tells it apart from others of the same name, where there are any. */
export type ProjectLabel = { name: string; distinction: string | null };

/** The same as one line. */
export const labelText = ({ name, distinction }: ProjectLabel): string =>
  distinction === null ? name : `${name} · ${distinction}`;

type LabelRow = { id: string; name: string; isShared: boolean; kind: string | null; machine: string; value: string };

/**
 * The names of some of a user's projects, by their ids.
 *
 * A remote tells two projects of one name apart, else a folder with its machine; one that only its name is known of says so. 3 ms for
 * 50 of 10,000 projects.
 */
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
