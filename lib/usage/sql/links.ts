// Usage by what a session is linked to: by branch, and by pull request. SQL: set-based over the linked traces alone; a trace of
// two pull requests counts at each.
import "server-only";
import type { PoolClient } from "pg";
import { divide } from "#lib/usage/spans";
import { type Column, columns, isLeft, usedOf } from "#lib/usage/sql/parts";
import { type FacetFilter, filterValues, namedOf, type ReportRow } from "#lib/usage/sql/report";

const links = {
  branch: { table: "trace_branch", value: "branch", counted: "" },
  pr: { table: "trace_pull_request", value: "repository || '#' || number::text", counted: "and counted" },
} as const;
export type LinkFacet = keyof typeof links;

const activity = ["messages", "tokens", "untimed", "uncounted"] as const;
const spending = columns.filter((name) => name !== "sessions" && !(activity as readonly Column[]).includes(name));
const sums = (names: readonly string[]) => names.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(", ");
const zeros = (names: readonly string[]) => names.map((name) => `0 as ${name}`).join(", ");
const [first, last] = ["($2::timestamptz[])[1]", "($2::timestamptz[])[cardinality($2::timestamptz[])]"];

/** Only rows of facets that a filter lets through: a lookup for each row, which no filter needs not make. */
const isWanted = (filter: FacetFilter) =>
  Object.keys(filter).length > 0 ? `and facets in (select facets from ${namedOf(filter, 7)})` : "";

/** What was spent on a branch is known of each message, and needs no link. */
const spentOf = (filter: FacetFilter) => `
    union all
    select width_bucket(used.at, $2::timestamptz[]), trace_id, false, ${zeros(activity)}, ${usedOf(spending)}
    from (select distinct trace_id from linked) as own join message_usage as used using (trace_id)
    where user_id = $1 and counted and at >= ${first} and at < ${last} ${isWanted(filter)} group by 1, 2`;

const counted = activity.map((name) => `${name}::float8`).join(", ");

/** The linked traces' days: each trace's are looked up where few are linked, all days are read where most are. */
const linkedDays = {
  branch: { from: "trace_usage", condition: "and trace_id in (select trace_id from trace_branch where user_id = $1)" },
  pr: { from: "(select distinct trace_id from linked) as own join trace_usage using (trace_id)", condition: "" },
};

/** What linked traces did: whole days, and the quarters of the days that several spans share. */
const partsOf = (facet: LinkFacet, filter: FacetFilter) => {
  const { from, condition } = linkedDays[facet];
  const isLinked = `${condition} ${isWanted(filter)}`;
  const spent = facet === "pr" ? `, ${zeros(spending)}` : "";
  return `
    select span, trace_id, true as is_active, ${counted}${spent}
    from ${from} join unnest($4::date[], $5::int[]) as days (day, span) using (day)
    where user_id = $1 and day between ($4::date[])[1] and ($4::date[])[cardinality($4::date[])] ${isLinked}
    union all
    select width_bucket(at, $2::timestamptz[]), trace_id, true, ${counted}${spent}
    from (
      select trace_id, day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as at, piece.messages, piece.tokens,
        piece.untimed, piece.uncounted
      from ${from}, unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
          as piece (quarter, messages, tokens, untimed, uncounted)
      where user_id = $1 and day = any($6::date[]) ${isLinked}
    ) as quarters
    where width_bucket(at, $2::timestamptz[]) between 1 and cardinality($2::timestamptz[]) - 1
    ${facet === "pr" ? spentOf(filter) : ""}`;
};

const statementOf = (facet: LinkFacet, filter: FacetFilter, bySpan: boolean, maxValues: number) => {
  const kept = facet === "pr" ? [...activity, ...spending] : activity;
  const all = (sessions: string) =>
    `${sessions}::float8 as sessions, ${sums(kept)}${facet === "pr" ? "" : `, ${zeros(spending)}`}`;
  const active = "count(*) filter (where is_active)";
  return `
  with linked as materialized (
    select distinct trace_id, ${links[facet].value} as value from ${links[facet].table}
    where user_id = $1 ${links[facet].counted} and ${isLeft.replaceAll("$12", "$3")}
  ),
  each as materialized (
    select span, trace_id, bool_or(is_active) as is_active, ${sums(kept)}
    from (${partsOf(facet, filter)}) as parts
    where ${isLeft.replaceAll("$12", "$3")} group by span, trace_id
  ),
  own as materialized (select trace_id, bool_or(is_active) as is_active, ${sums(kept)} from each group by trace_id),
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

/**
 * The usage of linked traces: by each value, and, with no facet, of all of them together, each once; in all spans and in each.
 *
 * @param gone the traces that are deleted, and still have rows
 */
export async function readLinks(
  tx: PoolClient,
  userId: string,
  facet: LinkFacet,
  request: { starts: Date[]; filter: FacetFilter; bySpan: boolean; maxValues: number; gone: string[] },
): Promise<ReportRow[]> {
  const { starts, filter, bySpan, maxValues, gone } = request;
  const statement = statementOf(facet, filter, bySpan, maxValues);
  const { days, parts } = divide(starts);
  const shared = new Set(parts.map(({ day }) => day));
  const whole = days.filter(({ day, span }) => !shared.has(day) && span > 0 && span < starts.length);
  const places = [whole.map(({ day }) => day), whole.map(({ span }) => span), [...shared]];
  return (await tx.query<ReportRow>(statement, [userId, starts, gone, ...places, ...filterValues(filter)])).rows;
}
