// Usage is summed in the database (docs/decisions/0015-usage.md has the figures).
import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { type Facet, facets as facetFields } from "#lib/fields";

export type Usage = {
  /** Traces with a message in the span; one that continues over several spans counts once in each, and once in the total. */
  sessions: number;
  messages: number;
  tokens: number;
};

/** A row of the report: of one span and value, or (`span` null) of all spans by one facet's value, or of everything. */
export type UsageRow = Usage & {
  span: number | null;
  untimed: number;
  uncounted: number;
  facet: Facet | null;
  value: string | null;
};

// Sums of bigint are numeric in PostgreSQL, which is slow; float8 is exact up to 2^53 tokens.
const sums = (...columns: string[]) => columns.map((column) => `sum(${column}::float8) as ${column}`).join(", ");
const amounts = sums("messages", "tokens", "untimed", "uncounted");

/**
 * `$1` is the user, `$2` the starts of the spans and the end of the last. A day of UTC within one span is taken whole, any
 * other by its quarters of an hour: in a year of weeks that is one day in seven. A deleted trace no longer counts, although
 * its rows are removed later.
 */
const active = `
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

const whenGrouped = facetFields.map((name) => `when grouping(${name}) = 0 then`);
const facetName = `case ${whenGrouped.map((when, index) => `${when} '${facetFields[index]}'`).join(" ")} end`;
const facetValue = `case ${whenGrouped.map((when, index) => `${when} ${facetFields[index]}`).join(" ")} end`;
const groupingSets = facetFields.map((name) => `(${name})`).join(", ");

/** @param by one of `facetFields`: a column's name can't be bound */
const report = (by: Facet) => `
  with ${active},
  cells as (select span, facets, count(*) as sessions, ${amounts} from active group by span, facets),
  traces as (select trace_id, facets, ${amounts} from active group by trace_id, facets),
  wholes as (select facets, count(*) as sessions, ${amounts} from traces group by facets)
  select span - 1 as span, null as facet, ${by} as value, ${sums("sessions")}, ${amounts}
  from cells join usage_facets on user_id = $1 and usage_facets.facets = cells.facets group by span, ${by}
  union all
  select null, ${facetName}, ${facetValue}, ${sums("sessions")}, ${amounts}
  from wholes join usage_facets on user_id = $1 and usage_facets.facets = wholes.facets
  group by grouping sets (${groupingSets}, ())`;

/** The sums by span, by facet and in all. SQL: a roll-up; 16 to 45 ms for 30 days of 50,000 traces in one statement. */
export async function readUsageRows(userId: string, starts: Date[], by: Facet): Promise<UsageRow[]> {
  const values = [userId, starts, starts[0], starts.at(-1)];
  const { rows } = await heavyRead(userId, (tx) => tx.query<UsageRow>(report(by), values));
  return rows;
}

/** The latest quarter of an hour with usage before a moment, if any. SQL: it unnests arrays. */
export async function findLastUse(userId: string, before: Date): Promise<Date | undefined> {
  const statement = `select at from trace_usage, unnest(quarters) as quarter,
       lateral (select (day::timestamp at time zone 'UTC') + quarter * interval '15 minutes' as at) as moment
     where user_id = $1 and day <= ($2::timestamptz at time zone 'UTC')::date and at < $2
       and trace_id not in (select id from trace where user_id = $1 and usage_due and deleted_at is not null)
     order by day desc, at desc limit 1`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<{ at: Date }>(statement, [userId, before]));
  return rows[0]?.at;
}
