// Usage by what a session is linked to: by branch, and by pull request. SQL: set-based over the linked traces alone; a trace of
// two pull requests counts at each.
import "server-only";
import type { PoolClient } from "pg";
import { type Column, columns, isLeft, used } from "#lib/usage/sql/parts";
import { type Filter, filterValues, namedOf, type ReportRow } from "#lib/usage/sql/report";

const links = {
  branch: "select distinct trace_id, branch as value from trace_branch where user_id = $1",
  pr: "select distinct trace_id, repository || '#' || number::text as value from trace_pull_request where user_id = $1",
} as const;
export type LinkFacet = keyof typeof links;

const activity = ["messages", "tokens", "untimed", "uncounted"] as const;
const spending = columns.filter((name) => name !== "sessions" && !(activity as readonly Column[]).includes(name));
const sums = (names: readonly string[]) => names.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(", ");
const zeros = (names: readonly string[]) => names.map((name) => `0 as ${name}`).join(", ");
const isInside = "span between 1 and cardinality($2::timestamptz[]) - 1";
const [first, last] = ["($2::timestamptz[])[1]", "($2::timestamptz[])[cardinality($2::timestamptz[])]"];

/** What was spent on a branch is known of each message, and needs no link. */
const spentOf = (filter: Filter) => `
    union all
    select width_bucket(used.at, $2::timestamptz[]), trace_id, false, ${zeros(activity)}, ${used}
    from own join message_usage as used using (trace_id) join ${namedOf(filter, 4)} using (facets)
    where user_id = $1 and counted and at >= ${first} and at < ${last} group by 1, 2`;

const statementOf = (facet: LinkFacet, filter: Filter, bySpan: boolean, maxValues: number) => `
  with linked as materialized (select * from (${links[facet]}) as found where ${isLeft.replaceAll("$12", "$3")}),
  own as materialized (select distinct trace_id from linked),
  parts as materialized (
    select width_bucket(at, $2::timestamptz[]) as span, trace_id, true as is_active, messages::float8, tokens::float8, untimed::float8,
      uncounted::float8, ${zeros(spending)}
    from (
      select trace_id, day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as at, piece.messages, piece.tokens,
        piece.untimed, piece.uncounted
      from own join trace_usage using (trace_id) join ${namedOf(filter, 4)} using (facets),
        unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
          as piece (quarter, messages, tokens, untimed, uncounted)
      where user_id = $1 and day between (${first} at time zone 'UTC')::date and (${last} at time zone 'UTC')::date
    ) as quarters
    ${facet === "pr" ? spentOf(filter) : ""}
  ),
  each as (
    select span, trace_id, bool_or(is_active) as is_active, ${sums([...activity, ...spending])}
    from parts where ${isInside} group by span, trace_id
  )
  select null::int as span, '${facet}' as facet, value, values, ${columns.join(", ")} from (
    select *, count(*) over ()::int as values, row_number() over (order by cost_nano desc, messages desc, value) as place
    from (
      select value, count(distinct trace_id) filter (where is_active)::float8 as sessions, ${sums([...activity, ...spending])}
      from each join linked using (trace_id) group by value
    ) as summed
  ) as ranked where place <= ${maxValues}
  union all
  select null, null, null, 0, count(distinct trace_id) filter (where is_active)::float8, ${sums([...activity, ...spending])} from each
  ${
    bySpan
      ? `union all
  select span - 1, '${facet}', value, 0, count(*) filter (where is_active)::float8, ${sums([...activity, ...spending])}
  from each join linked using (trace_id) group by span, value
  union all
  select span - 1, null, null, 0, count(*) filter (where is_active)::float8, ${sums([...activity, ...spending])} from each group by span`
      : ""
  }`;

/**
 * The usage of linked traces: by each value, and, with no facet, of all of them together, each once; in all spans and in each.
 *
 * @param gone the traces that are deleted, and still have rows
 */
export async function readLinks(
  tx: PoolClient,
  userId: string,
  facet: LinkFacet,
  request: { starts: Date[]; filter: Filter; bySpan: boolean; maxValues: number; gone: string[] },
): Promise<ReportRow[]> {
  const { starts, filter, bySpan, maxValues, gone } = request;
  const statement = statementOf(facet, filter, bySpan, maxValues);
  return (await tx.query<ReportRow>(statement, [userId, starts, gone, ...filterValues(filter)])).rows;
}
