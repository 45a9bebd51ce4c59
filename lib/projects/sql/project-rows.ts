// SQL: aggregates over all of a user's traces.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { type ProjectLabel, readProjectLabels } from "#lib/db/sql/project-labels";
import { allTokens, tokenColumns } from "#lib/db/sql/usage-rows";
import type { ProjectMonth, ProjectSort, Share } from "#lib/projects/schema";
import type { ProjectAlias } from "#lib/transcript/project";

const summedColumns = [...tokenColumns, "unpriced_tokens", "tier_not_priced_tokens"] as const;

// Sums of bigint are numeric, which is slow; float8 is exact up to 2^53.
const sums = summedColumns.map((name) => `sum(${name}::float8) as ${name}`).join(", ");
const columns = summedColumns.map((name) => `coalesce(sums.${name}, 0) as ${name}`).join(", ");

export type ProjectRow = {
  id: string;
  name: string;
  created_at: Date;
  sessions: number;
  put_away: number;
  cost_nano: number;
  agents: string[];
  last_active: Date | null;
} & Record<(typeof summedColumns)[number], number>;

/** Excludes sessions of which only prompts are known (docs/trace-format.md). Reads metadata only if necessary. */
const isCounted = `case when call_count > 0 or output_tokens > 0 then true
  else metadata->>'kind' is distinct from 'prompts-only' end`;

/** `$2` is one project, or null for all. */
const summed = `
  by_source as (
    select project_id, source, (count(*) filter (where ${isCounted}))::int as sessions,
      (count(*) filter (where (trivial or archived_at is not null) and ${isCounted}))::int as put_away, max(activity_at) filter (where dated) as last_active,
      sum(cost_nano::float8) as cost_nano, ${sums}
    from trace where user_id = $1 and deleted_at is null and project_id is not null
      and ($2::uuid is null or project_id = $2)
    group by project_id, source
  ), sums as (
    select project_id, sum(sessions)::int as sessions, sum(put_away)::int as put_away, max(last_active) as last_active, sum(cost_nano) as cost_nano,
      array_agg(source order by sessions desc, source) as agents,
      ${summedColumns.map((name) => `sum(${name}) as ${name}`).join(", ")}
    from by_source group by project_id
  )`;

const row = `project.id, project.name, project.created_at, coalesce(sums.sessions, 0) as sessions,
  coalesce(sums.put_away, 0) as put_away,
  coalesce(sums.cost_nano, 0) as cost_nano, coalesce(sums.agents, '{}') as agents, sums.last_active, ${columns}`;

const orders: Record<ProjectSort, string> = {
  active: "sums.last_active desc nulls last",
  name: "lower(project.name), project.name",
  sessions: "sums.sessions desc nulls last",
  cost: "sums.cost_nano desc nulls last",
};

export type Labels = Map<string, ProjectLabel>;

export async function readProjectRows(
  userId: string,
  { q, sort, limit, offset }: { q: string | undefined; sort: ProjectSort; limit: number; offset: number },
): Promise<{ rows: ProjectRow[]; labels: Labels }> {
  const statement = `with ${summed} select ${row} from project left join sums on sums.project_id = project.id
    where project.user_id = $1 and project.merged_into is null
      and ($3::text is null or strpos(lower(project.name), lower($3)) > 0)
    order by ${orders[sort]}, project.id limit $4 offset $5`;
  return heavyRead(userId, async (tx) => {
    const { rows } = await tx.query<ProjectRow>(statement, [userId, null, q ?? null, limit, offset]);
    return { rows, labels: await readRowLabels(tx, userId, rows) };
  });
}

const readRowLabels = (tx: PoolClient, userId: string, rows: ProjectRow[]) =>
  readProjectLabels(
    tx,
    userId,
    rows.map(({ id }) => id),
  );

type ProjectParts = {
  row: ProjectRow;
  labels: Labels;
  aliases: (ProjectAlias & { movedFrom: string | null })[];
  shares: (Share & { facet: "source" | "machine" })[];
  models: Share[];
  branches: Share[];
  months: ProjectMonth[];
};

export async function readProjectParts(userId: string, id: string, max: number): Promise<ProjectParts | undefined> {
  return heavyRead(userId, async (tx) => {
    const { rows } = await tx.query<ProjectRow>(
      `with ${summed} select ${row} from project left join sums on sums.project_id = project.id
       where project.user_id = $1 and project.id = $2 and project.merged_into is null`,
      [userId, id],
    );
    const [found] = rows;
    if (!found) return undefined;
    const own = [userId, id];
    const shares = await tx.query<ProjectParts["shares"][number]>(selectShares, [...own, max]);
    const models = await tx.query<Share>(selectModels, own);
    const branches = await tx.query<Share>(selectBranches, [...own, max]);
    const months = await tx.query<ProjectMonth>(selectMonths, own);
    const aliases = await tx.query<ProjectParts["aliases"][number]>(
      `select kind, machine, value, moved_from as "movedFrom" from project_alias
       where user_id = $1 and project_id = $2 order by kind = 'remote' desc, kind, machine, value limit $3`,
      [...own, maxAliases],
    );
    return {
      row: found,
      labels: await readRowLabels(tx, userId, [found]),
      aliases: aliases.rows,
      shares: shares.rows,
      models: models.rows,
      branches: branches.rows,
      months: months.rows,
    };
  });
}

/** Machines that build in a new folder each time would make thousands. */
const maxAliases = 200;

const selectShares = `
  select facet, value, sessions, "costNano" from (
    select case when grouping(source) = 0 then 'source' else 'machine' end as facet,
      coalesce(source, machine) as value, count(*)::int as sessions, sum(cost_nano::float8) as "costNano",
      row_number() over (partition by grouping(source, machine) order by count(*) desc, coalesce(source, machine)) as place
    from trace where user_id = $1 and project_id = $2 and deleted_at is null
    group by grouping sets ((source), (machine)) having coalesce(source, machine) is not null
  ) as counted where place <= $3 order by facet, place`;

/** Names are the client's own, so their number is bounded. */
const maxModels = 1000;

/** A session may have used other models than its own. */
const selectModels = `
  select model as value, sum(sessions)::int as sessions, sum(cost) as "costNano" from (
    select facets.model, 0 as sessions, sum(cost_nano::float8) as cost from usage_quarter_hour used
    join usage_facets facets on facets.user_id = $1 and facets.facets = used.facets
    where used.user_id = $1 and facets.project_id = $2 group by facets.model
    union all
    select model, count(*)::int, 0 from trace
    where user_id = $1 and project_id = $2 and deleted_at is null group by model
  ) as parts where model is not null group by model having sum(sessions) > 0 or sum(cost) > 0
  order by sessions desc, "costNano" desc limit ${maxModels}`;

const selectBranches = `
  with used as (
    select branch, sum(cost_nano::float8) as cost from usage_quarter_hour used
    join usage_facets facets on facets.user_id = $1 and facets.facets = used.facets
    where used.user_id = $1 and facets.project_id = $2 and branch is not null group by branch
  ), seen as (
    select worked.branch, count(*)::int as sessions, max(trace.activity_at) filter (where trace.dated) as last_active
    from trace join trace_branch worked on worked.user_id = $1 and worked.trace_id = trace.id
    where trace.user_id = $1 and trace.project_id = $2 and trace.deleted_at is null
    group by worked.branch order by last_active desc nulls last, worked.branch limit $3
  )
  select seen.branch as value, sessions, coalesce(used.cost, 0) as "costNano"
  from seen left join used on used.branch = seen.branch order by last_active desc nulls last, seen.branch`;

/** By month in UTC, the latest two years. */
const selectMonths = `
  select to_char(month, 'YYYY-MM') as month, "costNano", tokens, "unpricedTokens", "tierNotPricedTokens" from (
    select date_trunc('month', date '1970-01-01' + used.quarter / 96) as month, sum(used.cost_nano::float8) as "costNano",
      sum(${allTokens}::float8) as tokens,
      sum(used.unpriced_tokens::float8) as "unpricedTokens", sum(used.tier_not_priced_tokens::float8) as "tierNotPricedTokens"
    from usage_quarter_hour used join usage_facets facets on facets.user_id = $1 and facets.facets = used.facets
    where used.user_id = $1 and facets.project_id = $2 and used.quarter > 0
    group by 1 having sum(used.messages) > 0 or sum(used.cost_nano) > 0 order by 1 desc limit 24
  ) as months order by 1 desc`;
