// Usage by quarter of an hour, in which the days of every time zone begin, so that any span is a plain `group by`.
// Parameters: $1 user, $2 boundaries of the spans, $3 deleted traces that the ledger still counts. SQL: sums and
// arrays.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";

const activity = ["messages", "tokens", "untimed", "uncounted"] as const;
const amounts = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
] as const;
const spending = [
  ...amounts,
  "reasoning_tokens",
  "cost_nano",
  "recorded_nano",
  "unpriced_tokens",
  "tier_not_priced_tokens",
  "compared_nano",
  "compared_recorded_nano",
] as const;
const summed = [...activity, ...spending] as const;
export const columns = ["sessions", ...summed] as const;
export type Column = (typeof columns)[number];
export { activity, spending };

const list = <Name extends string>(names: readonly Name[], form: (name: Name) => string) => names.map(form).join(", ");
export const zeros = (names: readonly string[]): string => list(names, (name) => `0::float8 as ${name}`);
// Sums of bigint are numeric, which is slow; float8 is exact up to 2^53: nine million dollars, in nano-dollars.
export const sumColumns = (names: readonly string[]): string =>
  list(names, (name) => `coalesce(sum(${name}::float8), 0) as ${name}`);

/** Sums the columns of `spending` over rows of message_usage. */
export const sumMessageUsage = (): string => {
  const all = amounts.map((amount) => `${amount}::float8`).join(" + ");
  const special: Partial<Record<Column, string>> = {
    unpriced_tokens: `${all}) filter (where cost_nano is null`,
    tier_not_priced_tokens: `${all}) filter (where tier_not_priced`,
    compared_nano: "cost_nano::float8) filter (where recorded_nano is not null",
    compared_recorded_nano: "recorded_nano::float8) filter (where cost_nano is not null",
  };
  return list(spending, (name) => `coalesce(sum(${special[name] ?? `${name}::float8`}), 0) as ${name}`);
};

const boundaries = "$2::timestamptz[]";
const [first, last] = [`(${boundaries})[1]`, `(${boundaries})[cardinality(${boundaries})]`];
/** From 1. */
export const findSpan = (moment: string): string => `width_bucket(${moment}, ${boundaries})`;
export const isInSpans = `at >= ${first} and at < ${last}`;
export const isLeft = "trace_id <> all($3::uuid[])";

/** One row per quarter; `from` is trace_usage or a join with it. */
export const selectTraceQuarters = (from = "trace_usage"): string => `
  select trace_id, facets, day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as at, piece.messages, piece.tokens,
    piece.untimed, piece.uncounted, piece.seconds
  from ${from}, unnest(quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted, quarter_seconds)
    as piece (quarter, messages, tokens, untimed, uncounted, seconds)
  where user_id = $1 and day between (${first} at time zone 'UTC')::date and (${last} at time zone 'UTC')::date`;

const negate = (names: readonly string[]) => list(names, (name) => `-${name} as ${name}`);

/** CTEs: `usage` by span and facets, `active` by span and session. */
export const usageBySpan = `
  usage as materialized (
    select ${findSpan("at")} as span, facets, ${sumColumns(summed)} from usage_quarter_hour
    where user_id = $1 and ${isInSpans} group by 1, 2
    union all
    select ${findSpan("at")}, facets, ${negate(activity)}, ${zeros(spending)}
    from (${selectTraceQuarters()} and trace_id = any($3::uuid[])) as deleted where ${isInSpans}
    union all
    select span, facets, ${zeros(activity)}, ${negate(spending)} from (
      select ${findSpan("at")} as span, facets, ${sumMessageUsage()} from message_usage
      where user_id = $1 and trace_id = any($3::uuid[]) and counted and ${isInSpans} group by 1, 2
    ) as deleted
  ),
  active as materialized (
    select distinct trace_id, facets, ${findSpan("at")} as span
    from (${selectTraceQuarters()} and ${isLeft}) as quarters where ${isInSpans}
  )`;

const noSums = zeros(summed);
/** A session counts once in each span. */
export const selectSpans = `
  select span, facets, 0::float8 as sessions, ${summed.join(", ")} from usage
  union all
  select span, facets, count(*)::float8, ${noSums} from active group by 1, 2`;
/** A session counts once. */
export const selectTotals = `
  select facets, 0::float8 as sessions, ${summed.join(", ")} from usage
  union all
  select facets, count(*)::float8, ${noSums} from (select distinct trace_id, facets from active) as sessions group by 1`;

/** Deleted traces whose rows the ledger has not removed yet. SQL: in the report's snapshot. */
export async function readGone(tx: PoolClient, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and ledger_due and deleted_at is not null",
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** Seconds without pauses; parallel sessions count at most the seconds of a quarter. Spans without any are missing. */
export async function readSeconds(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<{ span: number; seconds: number }[]> {
  const { rows } = await tx.query<{ span: number; seconds: number }>(
    `select ${findSpan("at")} - 1 as span, sum(least(seconds, 900))::int as seconds from (
       select at, sum(seconds) as seconds from (${selectTraceQuarters()} and ${isLeft}) as quarters
       where ${isInSpans} group by at
     ) as moments where seconds > 0 group by 1`,
    [userId, starts, gone],
  );
  return rows;
}

export async function findLastUse(userId: string, before: Date): Promise<Date | undefined> {
  const statement = `select at from trace_usage, unnest(quarters) as quarter,
       lateral (select (day::timestamp at time zone 'UTC') + quarter * interval '15 minutes' as at) as moment
     where user_id = $1 and day > 'epoch' and day <= ($2::timestamptz at time zone 'UTC')::date and at < $2
       and trace_id not in (select id from trace where user_id = $1 and ledger_due and deleted_at is not null)
     order by day desc, at desc limit 1`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<{ at: Date }>(statement, [userId, before]));
  return rows[0]?.at;
}
