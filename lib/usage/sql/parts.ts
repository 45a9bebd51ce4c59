// The rows that usage is summed from. SQL: a roll-up, with corrections where a span begins within a day of UTC
// (docs/decisions/0043-usage-from-roll-ups.md has the figures).
import "server-only";
import { divide } from "#lib/usage/spans";

/** What usage_day sums of trace_usage. */
const activity = ["messages", "tokens", "untimed", "uncounted"] as const;
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
  "tier_not_priced_tokens",
  "compared_nano",
  "compared_recorded_nano",
] as const;

export const columns = ["sessions", ...activity, ...spending] as const;
export type Column = (typeof columns)[number];

const list = <Name extends string>(names: readonly Name[], form: (name: Name) => string) => names.map(form).join(", ");
// Sums of bigint are numeric in PostgreSQL, which is slow; float8 is exact up to 2^53: nine million dollars, in nano-dollars.
export const sumsOf = (names: readonly string[]): string => list(names, (name) => `sum(${name}::float8) as ${name}`);

const ofUsed = (name: (typeof spending)[number]): string => {
  const all = amounts.map((amount) => `used.${amount}::float8`).join(" + ");
  const special: Partial<Record<Column, string>> = {
    unpriced_tokens: `${all}) filter (where used.cost_nano is null`,
    tier_not_priced_tokens: `${all}) filter (where used.tier_not_priced`,
    compared_nano: "used.cost_nano::float8) filter (where used.recorded_nano is not null",
    compared_recorded_nano: "used.recorded_nano::float8) filter (where used.cost_nano is not null",
  };
  return `coalesce(sum(${special[name] ?? `used.${name}::float8`}), 0) as ${name}`;
};
/** Sums of columns of `spending` over rows of message_usage as `used`. */
export const usedOf = (names: readonly Column[]): string =>
  spending
    .filter((name) => names.includes(name))
    .map(ofUsed)
    .join(", ");

/** What the statement's text depends on, and its parameters from `$1` to `$12`. */
export type Parts = { sharesDays: boolean; hasGone: boolean; values: unknown[] };

/**
 * The parts that usage in some spans is summed from.
 *
 * @param gone the traces that are deleted, and still counted in usage_day
 */
export function partsIn(userId: string, starts: Date[], gone: string[]): Parts {
  const { days, parts } = divide(starts);
  const isInside = ({ span }: { span: number }) => span > 0 && span < starts.length;
  const values = [
    userId,
    starts,
    days.map(({ day }) => day),
    days.map(({ span }) => span),
    parts.map(({ day }) => day),
    parts.map((part) => part.starts),
    parts.map(({ ends }) => ends),
    parts.map(({ span }) => span),
    parts.map(({ whole }) => whole),
    days.filter(isInside).map(({ day }) => day),
    days.filter(isInside).map(({ span }) => span),
    gone,
  ];
  return { sharesDays: parts.length > 0, hasGone: gone.length > 0, values };
}

const isInside = (span: string) => `${span} between 1 and cardinality($2::timestamptz[]) - 1`;

/** All days with the span that each is counted in. It names every parameter: one that a statement doesn't have would have no type. */
const days = `days (day, span) as materialized (
    select * from unnest($3::date[], $4::int[])
    where ($5::date[], $6::int[], $7::int[], $8::int[], $9::int[], $12::uuid[]) is not null
  )`;
export const isLeft = "trace_id <> all($12::uuid[])";

const startOfPart = "day::timestamp at time zone 'UTC'";
const countedIn = (span: string) => `case when ${isInside(span)} then ${span} end`;

/**
 * `placed` are the days of traces in the parts of days that several spans share, but for those that are as a whole where the day is
 * counted. `touched` are the spans that such a trace has messages in then, with the first and the last of them. Most traces are
 * in one part, and their day's sums with them: quarters are looked at of the others alone. A day is `outer` where a part of it is
 * in none of the spans.
 */
const shared = `
  parts as materialized (
    select *, ${startOfPart} + starts * interval '15 minutes' as since, ${startOfPart} + ends * interval '15 minutes' as until,
      bool_or(not ${isInside("span")}) over (partition by day) as is_outer
    from unnest($5::date[], $6::int[], $7::int[], $8::int[], $9::int[]) as part (day, starts, ends, span, whole)
  ),
  placed as materialized (
    select straddling.*, part.span, part.starts, part.ends, part.is_outer,
      earliest >= part.starts and latest < part.ends as is_within
    from (
      select trace_usage.*, main.span as whole, quarters[1] as earliest, quarters[cardinality(quarters)] as latest
      from trace_usage join parts as main using (day)
      where user_id = $1 and day = any($5::date[]) and ${isLeft} and main.span = main.whole
        and (quarters[1] < main.starts or quarters[cardinality(quarters)] >= main.ends)
    ) as straddling join parts as part using (day)
    where earliest < part.ends and latest >= part.starts
  ),
  touched as materialized (
    select trace_id, day, facets, is_outer, whole, span, ${list(activity, (name) => `${name}::float8`)}, span as first, span as last,
      ${countedIn("span")} as counted, true as is_first
    from placed where is_within
    union all
    select *, min(span) over same, max(span) over same, min(${countedIn("span")}) over same, span = min(span) over same
    from (
      select trace_id, day, facets, is_outer, whole, span, ${sumsOf(activity)}
      from (
        select trace_id, day, facets, is_outer, whole, span, piece.messages, piece.tokens, piece.untimed, piece.uncounted
        from placed, unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
          as piece (quarter, messages, tokens, untimed, uncounted)
        where not is_within and quarter >= starts and quarter < ends
      ) as quarters group by trace_id, day, facets, is_outer, whole, span
    ) as summed window same as (partition by trace_id, day)
  ),`;

/** The span that a day is counted in. Not by a join: PostgreSQL would expect one row of it, and go through `touched` for each. */
const spanOfDay = (day: string) => `($4::int[])[${day} - ($3::date[])[1] + 1]`;

/**
 * The days on which a trace continues, with the spans of its first messages then and of its last ones before. The joins are full ones,
 * since PostgreSQL can't do them by loops: it expects a row of each side, and would go through `touched` for each (90 of 170 ms).
 */
const againOf = (sharesDays: boolean) => {
  const edge = (side: string, day: string) =>
    sharesDays &&
    `full join (select * from touched where is_first) as ${side} on ${side}.trace_id = later.trace_id and ${side}.day = later.${day}`;
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
      select trace_id, day, since, facets, ${spanOfDay("day")} as span, ${spanOfDay("since")} as since_span, true as continues
      from trace_usage where user_id = $1 and since is not null and ${isLeft}
        and day between ($3::date[])[1] and ($3::date[])[cardinality($3::date[])] and since >= ($3::date[])[1]
    ) as later
    ${edge("after", "day") || ""}
    ${edge("before", "since") || ""}
    where coalesce(later.continues, false)
  )`;
};

/** A row of corrections: of the wanted columns those that are given, the others 0. */
const rowOf = (wanted: readonly Column[], span: string, given: Partial<Record<Column, string>>): string =>
  `select ${span} as span, facets, ${list(wanted, (name) => `(${given[name] ?? "0"})::float8 as ${name}`)}`;
const each = <Name extends Column>(names: readonly Name[], form: (name: Name) => string) =>
  Object.fromEntries(names.map((name) => [name, form(name)]));
const any = (wanted: readonly Column[], of: readonly Column[]) => of.some((name) => wanted.includes(name));

/** What was spent in other spans than where its day is counted: added to the one and taken from the other. */
const spentElsewhere = (wanted: readonly Column[], where: string): string => `
  ${rowOf(
    wanted,
    "side.span",
    each(
      spending.filter((name) => wanted.includes(name)),
      (name) => `side.sign * ${name}`,
    ),
  )}
  from (
    select parts.span, parts.whole, spent.* from parts, lateral (
      select facets, ${usedOf(wanted)} from message_usage as used
      where user_id = $1 and at >= parts.since and at < parts.until and counted and ${isLeft} group by facets
    ) as spent where parts.span <> parts.whole and ${where} offset 0
  ) as spent, lateral (values (spent.span, 1), (spent.whole, -1)) as side (span, sign)`;

/** The same of messages, and of sessions as `given` has them where they are, and where the day is counted. */
const activeElsewhere = (wanted: readonly Column[], there: string, counted: string, where: string): string => `
  ${rowOf(wanted, "span", { sessions: there, ...each(activity, (name) => name) })} from touched where ${where}
  union all
  ${rowOf(wanted, "whole", { sessions: counted, ...each(activity, (name) => `-${name}`) })} from touched where ${where}`;

const ofGone = (wanted: readonly Column[]): string => `
  ${rowOf(wanted, "span", { sessions: "-1", ...each(activity, (name) => `-${name}`) })}
  from trace_usage join days using (day) where user_id = $1 and trace_id = any($12::uuid[])
  union all
  ${rowOf(
    wanted,
    "days.span",
    each(spending, (name) => `-${name}`),
  )}
  from (
    select (at at time zone 'UTC')::date as day, facets, ${usedOf(spending)} from message_usage as used
    where user_id = $1 and counted and trace_id = any($12::uuid[]) group by 1, 2
  ) as used join days using (day)`;

/**
 * What the sums of whole days have too much and too little in each span: of sessions that continue, of days that spans share, of
 * deleted traces. Rows of a span, facets and the wanted columns.
 */
export function correctionsOf({ sharesDays, hasGone }: Parts, wanted: readonly Column[]): string {
  const again = rowOf(wanted, "greatest(first, 1)", { sessions: `-(first = last and ${isInside("first")})::int` });
  const rows = [
    wanted.includes("sessions") && `${again} from again`,
    sharesDays && any(wanted, ["sessions", ...activity]) && activeElsewhere(wanted, "1", "-is_first::int", "true"),
    sharesDays && any(wanted, spending) && spentElsewhere(wanted, "true"),
    hasGone && ofGone(wanted),
  ];
  return combined(rows, wanted);
}

/** The same of all spans together, each session once. What moves from one span to another is in no sum of both. */
export function marginsOf({ sharesDays, hasGone }: Parts): string {
  const rows = [
    `${rowOf(columns, "1", { sessions: "-1" })} from again where counts`,
    sharesDays && activeElsewhere(columns, "(span is not distinct from counted)::int", "-is_first::int", "is_outer"),
    sharesDays && spentElsewhere(columns, "is_outer"),
    hasGone && ofGone(columns),
  ];
  return combined(rows, columns);
}

function combined(rows: (string | false)[], wanted: readonly Column[]): string {
  const given = rows.filter((row) => row !== false);
  // A statement without any has its columns nevertheless.
  const nothing = `select 0 as span, 0::bigint as facets, ${list(wanted, (name) => `0::float8 as ${name}`)} where false`;
  return `(select * from (${(given.length > 0 ? given : [nothing]).join("\n  union all")}) as found where ${isInside("span")})`;
}

/**
 * Common table expressions: `whole`, the rows of usage_day with the span that each counts in, and what its corrections are made of.
 * A text for each case: planning what is never executed takes ten milliseconds.
 */
export const expressionsOf = ({ sharesDays }: Parts): string => `
  ${days},${sharesDays ? shared : ""}${againOf(sharesDays)},
  whole as not materialized (
    select ($11::int[])[day - ($10::date[])[1] + 1] as span, facets, ${columns.join(", ")} from usage_day
    where user_id = $1 and day between ($10::date[])[1] and ($10::date[])[cardinality($10::date[])]
  )`;
