// The rows that usage is summed from. SQL: a roll-up, with corrections where a span begins within a day of UTC
// (docs/decisions/0043-usage-from-roll-ups.md has the figures).
import "server-only";
import { divide } from "#lib/usage/spans";

/** What usage_day sums of trace_usage. */
export const activity = ["messages", "tokens", "untimed", "uncounted"] as const;
const amounts = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
] as const;
/** What usage_day sums of message_usage. */
export const spending = [
  ...amounts,
  "reasoning_tokens",
  "cost_nano",
  "recorded_nano",
  "unpriced_tokens",
  "compared_nano",
  "compared_recorded_nano",
] as const;

export const columns = ["sessions", ...activity, ...spending] as const;
export type Column = (typeof columns)[number];

const list = (names: readonly string[], form: (name: string) => string) => names.map(form).join(", ");
// Sums of bigint are numeric in PostgreSQL, which is slow; float8 is exact up to 2^53: nine million dollars, in nano-dollars.
export const sumsOf = (names: readonly string[]): string => list(names, (name) => `sum(${name}::float8) as ${name}`);
const zeros = (names: readonly string[]) => list(names, (name) => `0 as ${name}`);
const minus = (names: readonly string[]) => list(names, (name) => `-${name} as ${name}`);

/** The sums of `spending` over rows of message_usage as `used`. */
export const used = `${list(amounts, (name) => `sum(used.${name}::float8) as ${name}`)},
  sum(used.reasoning_tokens::float8) as reasoning_tokens, coalesce(sum(used.cost_nano::float8), 0) as cost_nano,
  coalesce(sum(used.recorded_nano::float8), 0) as recorded_nano,
  coalesce(sum((${amounts.map((name) => `used.${name}`).join(" + ")})::float8) filter (where used.cost_nano is null), 0) as unpriced_tokens,
  coalesce(sum(used.cost_nano::float8) filter (where used.recorded_nano is not null), 0) as compared_nano,
  coalesce(sum(used.recorded_nano::float8) filter (where used.cost_nano is not null), 0) as compared_recorded_nano`;

/** What the statement's text depends on, and its parameters from `$1` to `$12`. */
export type Parts = { sharesDays: boolean; hasGone: boolean; values: unknown[] };

/**
 * The parts that usage in some spans is summed from.
 *
 * @param gone the traces that are deleted, and still counted in usage_day
 */
export function partsIn(userId: string, starts: Date[], gone: string[]): Parts {
  const { days, edges, pieces } = divide(starts);
  const isInside = ({ span }: { span: number }) => span > 0 && span < starts.length;
  const values = [
    userId,
    starts,
    days.map(({ day }) => day),
    days.map(({ span }) => span),
    edges.map(({ day }) => day),
    pieces.map(({ start }) => start),
    pieces.map(({ end }) => end),
    pieces.map(({ span }) => span),
    pieces.map((piece) => piece.whole),
    days.filter(isInside).map(({ day }) => day),
    days.filter(isInside).map(({ span }) => span),
    gone,
  ];
  return { sharesDays: edges.length > 0, hasGone: gone.length > 0, values };
}

const isInside = (span: string) => `${span} between 1 and cardinality($2::timestamptz[]) - 1`;
const inside = "unnest($10::date[], $11::int[]) as whole (day, span)";

/** All days with the span that each is counted in. It names every parameter: one that a statement doesn't have would have no type. */
const days = `days (day, span) as materialized (
    select * from unnest($3::date[], $4::int[])
    where ($5::date[], $6::timestamptz[], $7::timestamptz[], $8::int[], $9::int[], $12::uuid[]) is not null
  )`;
export const isLeft = "trace_id <> all($12::uuid[])";

/** The span of a quarter of a day. */
const spanOf = (quarter: string) =>
  `width_bucket(day::timestamp at time zone 'UTC' + ${quarter} * interval '15 minutes', $2::timestamptz[])`;

/**
 * `touched` are the spans that a trace has messages in on a day that several share, with the first and the last of them, where
 * any is not the one that the day is counted in; `pieces` is what was spent in other spans than that one.
 */
const shared = `
  straddling as materialized (
    select trace_id, day, facets, span as whole, quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted
    from trace_usage join days using (day)
    where user_id = $1 and day = any($5::date[]) and ${isLeft}
      and (${spanOf("quarters[1]")} <> span or ${spanOf("quarters[cardinality(quarters)]")} <> span)
  ),
  touched as materialized (
    select *, min(span) over same as first, max(span) over same as last, min(span) filter (where ${isInside("span")}) over same as counted
    from (
      select trace_id, day, facets, whole, span, ${sumsOf(activity)}
      from (
        select trace_id, day, facets, whole, piece.messages, piece.tokens, piece.untimed, piece.uncounted, ${spanOf("quarter")} as span
        from straddling, unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
          as piece (quarter, messages, tokens, untimed, uncounted)
      ) as quarters group by trace_id, day, facets, whole, span
    ) as summed window same as (partition by trace_id, day)
  ),
  pieces as materialized (
    select piece.span, whole, spent.* from unnest($6::timestamptz[], $7::timestamptz[], $8::int[], $9::int[]) as piece (starts, ends, span, whole),
      lateral (
        select facets, ${used} from message_usage as used
        where user_id = $1 and at >= piece.starts and at < piece.ends and counted and ${isLeft} group by facets
      ) as spent
  ),`;

/** The span that a day is counted in. Not by a join: PostgreSQL would expect one row of it, and go through `touched` for each. */
const spanOfDay = (day: string) => `($4::int[])[${day} - ($3::date[])[1] + 1]`;

/** The days on which a trace continues, with the spans of its first messages then and of its last ones before. */
const againOf = (sharesDays: boolean) => {
  const edge = (side: string, day: string) =>
    sharesDays &&
    `left join touched as ${side} on ${side}.trace_id = later.trace_id and ${side}.day = later.${day} and ${side}.span = ${side}.first`;
  const [first, last] = sharesDays
    ? ["coalesce(after.first, later.span)", "coalesce(before.last, later.since_span)"]
    : ["later.span", "later.since_span"];
  const counts = (side: string, span: string) => {
    const whole = isInside(`later.${span}`);
    return sharesDays ? `case when ${side}.first is null then ${whole} else ${side}.counted is not null end` : whole;
  };
  return `
  again as materialized (
    select later.facets, ${first} as first, ${last} as last, ${counts("after", "span")} and ${counts("before", "since_span")} as counts
    from (
      select trace_id, day, since, facets, ${spanOfDay("day")} as span, ${spanOfDay("since")} as since_span from trace_usage
      where user_id = $1 and since is not null and ${isLeft}
        and day between ($3::date[])[1] and ($3::date[])[cardinality($3::date[])] and since >= ($3::date[])[1]
    ) as later
    ${edge("after", "day") || ""}
    ${edge("before", "since") || ""}
  )`;
};

const noSpending = zeros(spending);
const noActivity = zeros(["sessions", "whole_sessions", ...activity]);

/** What the sums of whole days have too much and too little: of sessions that continue, of days that spans share, of deleted traces. */
const continued = `
  select greatest(first, 1), facets, -(first = last and ${isInside("first")})::int, -counts::int, ${zeros([...activity, ...spending])}
  from again`;
const ofSharedDays = `
  select span, facets, 1, (span is not distinct from counted)::int, ${list(activity, (name) => name)}, ${noSpending} from touched
  union all
  select whole, facets, -(span = first)::int, -(span = first)::int, ${minus(activity)}, ${noSpending} from touched
  union all
  select span, facets, ${noActivity}, ${list(spending, (name) => name)} from pieces
  union all
  select whole, facets, ${noActivity}, ${minus(spending)} from pieces`;
const ofGone = `
  select span, facets, -1, -1, ${minus(activity)}, ${noSpending}
  from trace_usage join days using (day) where user_id = $1 and trace_id = any($12::uuid[])
  union all
  select days.span, used.facets, ${noActivity}, ${list(spending, (name) => `-${name}`)}
  from (
    select (at at time zone 'UTC')::date as day, facets, ${used} from message_usage as used
    where user_id = $1 and counted and trace_id = any($12::uuid[]) group by 1, 2
  ) as used join days using (day)`;

/**
 * Common table expressions up to `whole` and `corrections`, which together are the usage in the spans: rows of usage_day with
 * the span that each counts in, and what has to be added to their sums. A text for each case: planning what is never
 * executed takes ten milliseconds.
 */
export const expressionsOf = ({ sharesDays, hasGone }: Parts): string => `
  ${days},${sharesDays ? shared : ""}${againOf(sharesDays)},
  corrections as materialized (
    select * from (${[continued, sharesDays && ofSharedDays, hasGone && ofGone].filter(Boolean).join("\n  union all")}) as found
      (span, facets, sessions, whole_sessions, ${[...activity, ...spending].join(", ")}) where ${isInside("span")}
  ),
  whole as not materialized (
    select span, facets, ${columns.join(", ")} from usage_day join ${inside} using (day)
    where user_id = $1 and day between ($10::date[])[1] and ($10::date[])[cardinality($10::date[])]
  )`;
