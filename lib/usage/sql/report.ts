// SQL: sums by facet and span (docs/decisions/0043-usage-from-roll-ups.md).
import "server-only";
import type { PoolClient } from "pg";
import { pool } from "#lib/db/client";
import type { UsageFacet } from "#lib/usage/schema";
import {
  type Column,
  columns,
  selectSpans,
  selectTotals,
  sumColumns,
  toQuarters,
  usageBySpan,
} from "#lib/usage/sql/quarters";

/** `span` is null for all spans together, `facet` for all values. */
export type ReportRow = Record<Column, number> & {
  span: number | null;
  facet: UsageFacet | null;
  /** A project's id, or a text without a project. */
  value: string | null;
  /** The facet's number of values, of which only some have rows. */
  values: number;
};

const expressions = {
  source: "source",
  model: "model",
  project: "coalesce(project_id::text, project)",
  machine: "machine",
  branch: "branch",
} as const;
export type RolledFacet = keyof typeof expressions;
export const rolledFacets = Object.keys(expressions) as RolledFacet[];
export type FacetFilter = Partial<Record<RolledFacet, string[]>>;

const names = columns.join(", ");

/** usage_facets with a column per facet, filtered by the parameters from $4 on. */
export const selectFacets = (filter: FacetFilter): string => {
  const given = rolledFacets.filter((name) => filter[name] !== undefined);
  const conditions = given.map((name, place) => {
    const wanted = `any($${4 + place}::text[])`;
    return name === "project"
      ? `and (project = ${wanted} or project_id in (select id from project where user_id = $1 and (name = ${wanted} or id::text = ${wanted})))`
      : `and ${expressions[name]} = ${wanted}`;
  });
  const values = rolledFacets.map((name) => `${expressions[name]} as of_${name}`).join(", ");
  return `(select facets, ${values} from usage_facets where user_id = $1 ${conditions.join(" ")}) as named`;
};
export const filterValues = (filter: FacetFilter) =>
  rolledFacets.map((name) => filter[name]).filter((value) => value !== undefined);

/** Ranks values; unlisted ones are the difference to the whole. */
const order = "cost_nano desc, input_tokens + output_tokens + cache_read_tokens desc, messages desc, value";

const sums = sumColumns(columns);

const sumTotals = (filter: FacetFilter) => `
  summed as materialized (
    select ${rolledFacets.map((name) => `of_${name}`).join(", ")}, ${names}
    from (select facets, ${sums} from (${selectTotals}) as rows group by facets) as found
    join ${selectFacets(filter)} using (facets)
  )`;

const byFacet = ({ facets, maxValues }: ReportRequest) => {
  const pick = (form: (name: string) => string) =>
    `case ${facets.map((name) => `when grouping(of_${name}) = 0 then ${form(name)}`).join(" ")} end`;
  const whole = `select null::int as span, null::text as facet, null::text as value, 1 as values, ${sums} from summed`;
  if (facets.length === 0) return whole;
  return `
  ${whole}
  union all
  select null, facet, value, values, ${names} from (
    select *, row_number() over (partition by facet order by ${order}) as place, count(*) over (partition by facet)::int as values
    from (
      select ${pick((name) => `'${name}'`)}::text as facet, ${pick((name) => `of_${name}`)}::text as value, ${sums}
      from summed group by grouping sets (${facets.map((name) => `(of_${name})`).join(", ")})
    ) as found
  ) as ranked where place <= ${maxValues}`;
};

const selectListed = (by: RolledFacet, maxValues: number) => `
  select value from (select of_${by} as value, ${sums} from summed group by of_${by}) as found
  order by ${order} limit ${maxValues}`;

const bySpan = (by: RolledFacet | undefined, filter: FacetFilter) => {
  const isListed = by ? `coalesce(of_${by}, '') in (select coalesce(value, '') from listed)` : "false";
  const value = by ? `case when ${isListed} then of_${by} end::text` : "null::text";
  return `
  select span - 1, case when is_listed then '${by ?? ""}' end, value, 0, ${sums}
  from (
    select span, ${isListed} as is_listed, ${value} as value, ${names}
    from (${selectSpans}) as rows join ${selectFacets(filter)} using (facets)
  ) as named group by span, is_listed, value`;
};

type ReportRequest = {
  starts: Date[];
  /** As `readGone` returns them. */
  gone: string[];
  /** At most `maxValues` of each facet. */
  facets: RolledFacet[];
  maxValues: number;
  filter: FacetFilter;
  spans: { by: RolledFacet | undefined } | undefined;
};

/** SQL: Prisma removes duplicates in memory. */
export async function readModels(tx: PoolClient, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ model: string }>(
    "select distinct model from usage_facets where user_id = $1 and model is not null",
    [userId],
  );
  return rows.map(({ model }) => model);
}

export async function readReport(tx: PoolClient, userId: string, request: ReportRequest): Promise<ReportRow[]> {
  const { starts, gone, filter, spans } = request;
  const listed = spans?.by ? `, listed as materialized (${selectListed(spans.by, request.maxValues)})` : "";
  const inSpans = spans ? `union all ${bySpan(spans.by, filter)}` : "";
  // Sums a year in memory instead of sorting it on disk.
  await tx.query("set local work_mem = '32MB'");
  const statement = `with ${usageBySpan}, ${sumTotals(filter)} ${listed} ${byFacet(request)} ${inSpans}`;
  return (await tx.query<ReportRow>(statement, [userId, toQuarters(starts), gone, ...filterValues(filter)])).rows;
}

export async function readSpending(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<Spending[]> {
  const statement = `with ${usageBySpan}
    select of_source as source, of_model as model, of_project as project, sum(cost_nano) as "costNano"
    from usage join ${selectFacets({})} using (facets) where cost_nano <> 0 group by 1, 2, 3`;
  return (await tx.query<Spending>(statement, [userId, toQuarters(starts), gone])).rows;
}

export type Spending = { source: string; model: string | null; project: string | null; costNano: number };

/**
 * SQL: one statement, so that concurrent requests don't exceed the limit.
 * @returns whether the limit allowed it
 */
export async function insertBudget(
  userId: string,
  { facet, value, amountNano }: { facet: string; value: string; amountNano: number },
  max: number,
): Promise<boolean> {
  const { rowCount } = await pool().query(
    `insert into budget (user_id, facet, value, amount_nano, updated_at)
     select $1::uuid, $2::text, $3::text, $4::bigint, $6::timestamptz
     where exists (select 1 from budget where user_id = $1::uuid and facet = $2 and value = $3)
       or (select count(*) from budget where user_id = $1::uuid) < $5
     on conflict (user_id, facet, value) do update set amount_nano = excluded.amount_nano, updated_at = excluded.updated_at`,
    [userId, facet, value, amountNano, max, new Date()],
  );
  return rowCount === 1;
}
