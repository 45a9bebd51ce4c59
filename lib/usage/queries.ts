import "server-only";
import { pool } from "#lib/db/client";

/** What traces are told apart by. */
export const facetNames = ["source", "model", "project", "machine"] as const;
export type FacetName = (typeof facetNames)[number];

export type Usage = {
  /** How many traces had a message then; one that went on over several spans counts in each of them, and once in all. */
  sessions: number;
  messages: number;
  tokens: number;
};

export type UsageReport = {
  /** Of all traces in all spans. `untimed` messages have no time of their own, `uncounted` no token count. */
  total: Usage & { untimed: number; uncounted: number };
  /** By a facet's value in all spans; null where the client sent none. */
  byFacet: Record<FacetName, (Usage & { value: string | null })[]>;
  /** By span (from 0) and by value of the facet that was asked for. */
  bySpan: (Usage & { span: number; value: string | null })[];
};

// Sums of bigint are numeric in PostgreSQL, which is slow; 2^53 tokens are more than anybody will have.
const sums = (...columns: string[]) => columns.map((column) => `sum(${column}::float8) as ${column}`).join(", ");
const amounts = sums("messages", "tokens", "untimed", "uncounted");

/**
 * `$1` is the user, `$2` when each span begins and the last one ends. A day of UTC that lies in one span is taken whole,
 * another by its quarters: of a year in weeks that is one day in seven. A deleted trace counts no more, though what it
 * used is only removed behind the deletion.
 */
const activeSql = `
  days as not materialized (
    select trace_id, facets, messages, tokens, untimed, uncounted, quarters, quarter_messages, quarter_tokens,
      quarter_untimed, quarter_uncounted, day::timestamp at time zone 'UTC' as begins,
      width_bucket(day::timestamp at time zone 'UTC', $2::timestamptz[]) as first,
      width_bucket(day::timestamp at time zone 'UTC' + interval '23:45', $2::timestamptz[]) as last
    from trace_usage where user_id = $1 and day between ($3::timestamptz at time zone 'UTC')::date
      and ($4::timestamptz at time zone 'UTC')::date
      and trace_id not in (select id from trace where user_id = $1 and usage_due and deleted_at is not null)
  ), pieces as (
    select first as span, trace_id, facets, messages, tokens, untimed, uncounted from days where first = last
    union all
    select width_bucket(begins + quarter * interval '15 minutes', $2::timestamptz[]), trace_id, facets,
      piece.messages, piece.tokens, piece.untimed, piece.uncounted
    from days, unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
      as piece (quarter, messages, tokens, untimed, uncounted)
    where first <> last
  ), active as materialized (
    select span, trace_id, facets, ${amounts} from pieces
    where span between 1 and cardinality($2::timestamptz[]) - 1 group by span, trace_id, facets
  )`;

type Row = Usage & {
  span: number | null;
  untimed: number;
  uncounted: number;
  facet: FacetName | null;
  value: string | null;
};

const inAll = facetNames.map((name) => `when grouping(${name}) = 0 then`);
const named = `case ${inAll.map((when, index) => `${when} '${facetNames[index]}'`).join(" ")} end`;
const valued = `case ${inAll.map((when, index) => `${when} ${facetNames[index]}`).join(" ")} end`;
const grouped = facetNames.map((name) => `(${name})`).join(", ");

/** @param by is one of `facetNames`, so it may stand in the statement */
const reportSql = (by: FacetName) => `
  with ${activeSql},
  cells as (select span, facets, count(*) as sessions, ${amounts} from active group by span, facets),
  traces as (select trace_id, facets, ${amounts} from active group by trace_id, facets),
  wholes as (select facets, count(*) as sessions, ${amounts} from traces group by facets)
  select span - 1 as span, null as facet, ${by} as value, ${sums("sessions")}, ${amounts}
  from cells join usage_facets on user_id = $1 and usage_facets.facets = cells.facets group by span, ${by}
  union all
  select null, ${named}, ${valued}, ${sums("sessions")}, ${amounts}
  from wholes join usage_facets on user_id = $1 and usage_facets.facets = wholes.facets
  group by grouping sets (${grouped}, ())`;

/**
 * What a user's traces used in spans of time.
 *
 * @param starts when each span begins, in whole quarters of an hour, and behind them when the last one ends.
 * @param by what the spans are told apart by as well.
 */
export async function readUsage(userId: string, starts: Date[], by: FacetName): Promise<UsageReport> {
  const { rows } = await pool().query<Row>(reportSql(by), [userId, starts, starts[0], starts.at(-1)]);
  const total = rows.find(({ span, facet }) => span === null && facet === null);
  const of = (name: FacetName) =>
    rows.filter(({ facet }) => facet === name).map((row) => ({ value: row.value, ...used(row) }));
  return {
    total: { ...used(total), untimed: total?.untimed ?? 0, uncounted: total?.uncounted ?? 0 },
    byFacet: { source: of("source"), model: of("model"), project: of("project"), machine: of("machine") },
    bySpan: rows.flatMap((row) => (row.span === null ? [] : [{ span: row.span, value: row.value, ...used(row) }])),
  };
}

/** Sums over nothing are null. */
const used = (row: Usage | undefined): Usage => ({
  sessions: row?.sessions ?? 0,
  messages: row?.messages ?? 0,
  tokens: row?.tokens ?? 0,
});

/** How many of a user's traces are yet to be counted, or counted anew. */
export async function countDue(userId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    "select count(*)::int as count from trace where user_id = $1 and usage_due and deleted_at is null",
    [userId],
  );
  return rows[0]?.count ?? 0;
}

/** When a user's traces were last active before a moment, to the quarter of an hour; undefined where they never were. */
export async function lastUse(userId: string, before: Date): Promise<Date | undefined> {
  const { rows } = await pool().query<{ at: Date }>(
    `select at from trace_usage, unnest(quarters) as quarter,
       lateral (select (day::timestamp at time zone 'UTC') + quarter * interval '15 minutes' as at) as moment
     where user_id = $1 and day <= ($2::timestamptz at time zone 'UTC')::date and at < $2
       and trace_id not in (select id from trace where user_id = $1 and usage_due and deleted_at is not null)
     order by day desc, at desc limit 1`,
    [userId, before],
  );
  return rows[0]?.at;
}
