// SQL: set-based over linked traces; a trace with two pull requests counts at each.
import "server-only";
import type { PoolClient } from "pg";
import { activity, messageQuarter, spending } from "#lib/db/sql/usage-rows";
import {
  columns,
  findSpan,
  isLeft,
  isSentInSpans,
  isSpan,
  selectTraceQuarters,
  sumColumns,
  sumMessageUsage,
  toQuarters,
  zeros,
} from "#lib/usage/sql/quarters";
import { type FacetFilter, filterValues, type ReportRow, selectFacets } from "#lib/usage/sql/report";

const links = {
  branch: { table: "trace_branch", value: "branch", counted: "" },
  pr: { table: "trace_pull_request", value: "repository || '#' || number::text", counted: "and counted" },
} as const;
export type LinkFacet = keyof typeof links;

/** Unfiltered reads need no look-up per row. */
const isWanted = (filter: FacetFilter) =>
  Object.keys(filter).length > 0 ? `and facets in (select facets from ${selectFacets(filter)})` : "";

/** Spending by branch needs no links, since each message has its branch. */
const selectSpent = (filter: FacetFilter) => `
    union all
    select ${findSpan(messageQuarter)}, trace_id, false, ${zeros(activity)}, ${sumMessageUsage()}
    from (select distinct trace_id from linked) as own join message_usage using (trace_id)
    where user_id = $1 and counted and ${isSentInSpans} ${isWanted(filter)} group by 1, 2`;

const linkedDays = {
  branch: { from: "trace_usage", condition: "and trace_id in (select trace_id from trace_branch where user_id = $1)" },
  pr: { from: "(select distinct trace_id from linked) as own join trace_usage using (trace_id)", condition: "" },
};

const selectLinkedUsage = (facet: LinkFacet, filter: FacetFilter) => {
  const { from, condition } = linkedDays[facet];
  return `
    select ${findSpan("quarter")} as span, trace_id, true as is_active, ${activity.join(", ")}${facet === "pr" ? `, ${zeros(spending)}` : ""}
    from (${selectTraceQuarters(activity, from)} ${condition} ${isWanted(filter)}) as quarters
    ${facet === "pr" ? selectSpent(filter) : ""}`;
};

const selectLinks = (facet: LinkFacet, filter: FacetFilter, bySpan: boolean, maxValues: number) => {
  const kept = facet === "pr" ? [...activity, ...spending] : activity;
  const all = (sessions: string) =>
    `${sessions}::float8 as sessions, ${sumColumns(kept)}${facet === "pr" ? "" : `, ${zeros(spending)}`}`;
  const active = "count(*) filter (where is_active)";
  return `
  with linked as materialized (
    select distinct trace_id, ${links[facet].value} as value from ${links[facet].table}
    where user_id = $1 ${links[facet].counted} and ${isLeft}
  ),
  each as materialized (
    select span, trace_id, bool_or(is_active) as is_active, ${sumColumns(kept)}
    from (${selectLinkedUsage(facet, filter)}) as parts
    where ${isLeft} and ${isSpan} group by span, trace_id
  ),
  own as materialized (select trace_id, bool_or(is_active) as is_active, ${sumColumns(kept)} from each group by trace_id),
  listed as materialized (
    select *, count(*) over ()::int as values from (
      select value, ${all(active)} from own join linked using (trace_id) group by value
    ) as summed order by cost_nano desc, messages desc, value limit ${maxValues}
  )
  select null::int as span, '${facet}' as facet, value, values, ${columns.join(", ")} from listed
  union all
  select null, null, null, 0, ${all(active)} from own
  ${
    bySpan
      ? `union all
  select span - 1, '${facet}', value, 0, ${all(active)} from each join linked using (trace_id)
  where value in (select value from listed) group by span, value
  union all
  select span - 1, null, null, 0, ${all(active)} from each group by span`
      : ""
  }`;
};

/** Rows for each value, and without a facet for all linked traces, each once; in total and by span. */
export async function readLinks(
  tx: PoolClient,
  userId: string,
  facet: LinkFacet,
  request: { starts: Date[]; filter: FacetFilter; bySpan: boolean; maxValues: number; gone: string[] },
): Promise<ReportRow[]> {
  const { starts, filter, bySpan, maxValues, gone } = request;
  const statement = selectLinks(facet, filter, bySpan, maxValues);
  return (await tx.query<ReportRow>(statement, [userId, toQuarters(starts), gone, ...filterValues(filter)])).rows;
}
