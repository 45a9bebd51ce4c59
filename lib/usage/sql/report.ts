// The sums of usage by facet and by span. SQL: roll-ups (docs/decisions/0043-usage-from-roll-ups.md).
import "server-only";
import type { PoolClient } from "pg";
import type { UsageFacet } from "#lib/usage/schema";
import {
  type Column,
  columns,
  correctionsOf,
  expressionsOf,
  marginsOf,
  type Parts,
  partsIn,
  sumsOf,
} from "#lib/usage/sql/parts";

/** Sums of usage; `span` is null in those of all spans together, and `facet` in those of all values. */
export type ReportRow = Record<Column, number> & {
  span: number | null;
  facet: UsageFacet | null;
  /** A project's id, or its text where it is none of the projects'. */
  value: string | null;
  /** How many values the facet has, which may be more than the rows. */
  values: number;
};

/** The facets whose values usage_facets has, each with the expression of its value. */
const expressions = {
  source: "source",
  model: "model",
  project: "coalesce(project_id::text, project)",
  machine: "machine",
  branch: "branch",
} as const;
export type RolledFacet = keyof typeof expressions;
export const rolledFacets = Object.keys(expressions) as RolledFacet[];
/** The values of a facet that count; one of a project may be its id, its name or its text. */
export type FacetFilter = Partial<Record<RolledFacet, string[]>>;

const names = columns.join(", ");
const floats = columns.map((name) => `${name}::float8`).join(", ");

/** usage_facets as `named`, with one column for each facet; only those that a filter lets through, by the parameters from `firstValue` on. */
export const namedOf = (filter: FacetFilter, firstValue = 13): string => {
  const given = rolledFacets.filter((name) => filter[name] !== undefined);
  const conditions = given.map((name, place) => {
    const wanted = `any($${firstValue + place}::text[])`;
    return name === "project"
      ? `and (project = ${wanted} or project_id in (select id from project where user_id = $1 and (name = ${wanted} or id::text = ${wanted})))`
      : `and ${expressions[name]} = ${wanted}`;
  });
  const values = rolledFacets.map((name) => `${expressions[name]} as of_${name}`).join(", ");
  return `(select facets, ${values} from usage_facets where user_id = $1 ${conditions.join(" ")}) as named`;
};
export const filterValues = (filter: FacetFilter) =>
  rolledFacets.map((name) => filter[name]).filter((value) => value !== undefined);

/** The most rows of a facet; the rest are the difference to the whole. */
const ranking = new Set<Column>(["cost_nano", "input_tokens", "output_tokens", "cache_read_tokens", "messages"]);
const order = "cost_nano desc, input_tokens + output_tokens + cache_read_tokens desc, messages desc, value";

const sums = (wanted: readonly Column[]) =>
  columns.map((name) => `${wanted.includes(name) ? `sum(${name})` : "0"} as ${name}`).join(", ");

/** Each combination of facets is summed once before all sums of sums: there are a third as many as rows of days. */
const summedOf = (parts: Parts, filter: FacetFilter) => `
  summed as materialized (
    select ${rolledFacets.map((name) => `of_${name}`).join(", ")}, ${names} from (
      select facets, ${sumsOf(columns)} from (
        select facets, ${floats} from whole
        union all
        select facets, ${names} from ${marginsOf(parts)} as margins
      ) as parts group by facets
    ) as found join ${namedOf(filter)} using (facets)
  )`;

/** The sum of all, and those of each facet's values. */
const byFacet = ({ facets, maxValues, listed = columns }: ReportRequest) => {
  const pick = (form: (name: string) => string) =>
    `case ${facets.map((name) => `when grouping(of_${name}) = 0 then ${form(name)}`).join(" ")} end`;
  const whole = `select null::int as span, null::text as facet, null::text as value, 1 as values, ${sums(columns)} from summed`;
  if (facets.length === 0) return whole;
  const wanted = columns.filter((name) => listed.includes(name) || ranking.has(name));
  return `
  ${whole}
  union all
  select null, facet, value, values, ${names} from (
    select *, row_number() over (partition by facet order by ${order}) as place, count(*) over (partition by facet)::int as values
    from (
      select ${pick((name) => `'${name}'`)}::text as facet, ${pick((name) => `of_${name}`)}::text as value, ${sums(wanted)}
      from summed group by grouping sets (${facets.map((name) => `(of_${name})`).join(", ")})
    ) as found
  ) as ranked where place <= ${maxValues}`;
};

const columnsOf = ({ wanted }: NonNullable<ReportRequest["spans"]>) =>
  columns.filter((name) => !wanted || wanted.includes(name));

/** A facet's values that are listed: what the others have in a span is in the rows without a facet. */
const selectListed = (by: RolledFacet, maxValues: number) => `
  select value from (select of_${by} as value, ${sums([...ranking])} from summed group by of_${by}) as found
  order by ${order} limit ${maxValues}`;

const bySpan = (spans: NonNullable<ReportRequest["spans"]>, { filter }: ReportRequest) => {
  const { by } = spans;
  const isListed = by ? `coalesce(of_${by}, '') in (select coalesce(value, '') from listed)` : "false";
  const value = by ? `case when ${isListed} then of_${by} end::text` : "null::text";
  const some = columnsOf(spans);
  return `
  select span - 1, case when is_listed then '${by ?? ""}' end, value, 0, ${sums(some)}
  from (
    select span, ${isListed} as is_listed, ${value} as value, ${sumsOf(some)} from whole join ${namedOf(filter)} using (facets) group by 1, 2, 3
    union all
    select span, ${isListed}, ${value}, ${some.join(", ")} from corrections join ${namedOf(filter)} using (facets)
  ) as parts group by span, is_listed, value`;
};

export type ReportRequest = {
  starts: Date[];
  /** As of `readGone`. */
  gone: string[];
  /** The facets whose values are summed over all spans, at most so many values of each. */
  facets: RolledFacet[];
  maxValues: number;
  /** The columns that are wanted of each value; others are 0. All by default. */
  listed?: readonly Column[] | undefined;
  filter: FacetFilter;
  /** Whether to sum by span, by which facet's values, and which columns; the others are 0. */
  spans: { by: RolledFacet | undefined; wanted?: readonly Column[] } | undefined;
};

/** Traces that are deleted: they no longer count, although their rows are removed later. SQL: in the report's snapshot. */
export async function readGone(tx: PoolClient, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and ledger_due and deleted_at is not null",
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** The names of models that a user's usage is counted under. SQL: Prisma makes them distinct in memory. */
export async function readModels(tx: PoolClient, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ model: string }>(
    "select distinct model from usage_facets where user_id = $1 and model is not null",
    [userId],
  );
  return rows.map(({ model }) => model);
}

/** A user's usage in all spans, by facet, and in each. */
export async function readReport(tx: PoolClient, userId: string, request: ReportRequest): Promise<ReportRow[]> {
  const { starts, gone, filter, spans } = request;
  const parts = partsIn(userId, starts, gone);
  // Materialized: PostgreSQL would look at all facets for each part of a day.
  const corrections = spans ? `, corrections as materialized ${correctionsOf(parts, columnsOf(spans))}` : "";
  const listed = spans?.by ? `, listed as materialized (${selectListed(spans.by, request.maxValues)})` : "";
  const inSpans = spans ? `union all ${bySpan(spans, request)}` : "";
  const statement = `with ${expressionsOf(parts)}, ${summedOf(parts, filter)} ${corrections} ${listed} ${byFacet(request)} ${inSpans}`;
  return (await tx.query<ReportRow>(statement, [...parts.values, ...filterValues(filter)])).rows;
}

/** What was spent on each project, by each agent and by each model, in all combinations. */
export async function readSpending(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<Spending[]> {
  const parts = partsIn(userId, starts, gone);
  const statement = `with ${expressionsOf(parts)}
    select of_source as source, of_model as model, of_project as project, sum(cost_nano) as "costNano" from (
      select facets, cost_nano::float8 from whole union all select facets, cost_nano from ${marginsOf(parts)} as margins
    ) as parts join ${namedOf({})} using (facets) where cost_nano <> 0 group by 1, 2, 3`;
  return (await tx.query<Spending>(statement, parts.values)).rows;
}

export type Spending = { source: string; model: string | null; project: string | null; costNano: number };
