// Usage by quarter of an hour, in which the days of every time zone begin, so that any span is a plain `group by`.
// Parameters: $1 user, $2 boundaries of the spans in quarters since 1970, $3 deleted traces that the ledger still counts. SQL: sums and
// arrays.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { activity, messageQuarter, spend, spending, traceQuarters } from "#lib/db/sql/usage-rows";
import { quarterMs } from "#lib/usage/spans";

const summed = [...activity, ...spending] as const;
export const columns = ["sessions", ...summed] as const;
export type Column = (typeof columns)[number];

const list = <Name extends string>(names: readonly Name[], form: (name: Name) => string) => names.map(form).join(", ");
export const zeros = (names: readonly string[]): string => list(names, (name) => `0::float8 as ${name}`);
// Sums of bigint are numeric, which is slow; float8 is exact up to 2^53 nano-dollars.
export const sumColumns = (names: readonly string[]): string =>
  list(names, (name) => `coalesce(sum(${name}::float8), 0) as ${name}`);

export const sumMessageUsage = (): string =>
  list(spending, (name) => `coalesce(sum((${spend(name)})::float8), 0) as ${name}`);

/** Whole quarters of an hour since 1970, rounded down. */
export const toQuarters = (moments: Date[]): number[] =>
  moments.map((moment) => Math.floor(moment.getTime() / quarterMs));

const boundaries = "$2::int[]";
const [first, last] = [`(${boundaries})[1]`, `(${boundaries})[cardinality(${boundaries})]`];
/** From 1. */
export const findSpan = (quarter: string): string => `width_bucket(${quarter}, ${boundaries})`;
/** Not a range, of which PostgreSQL would expect few rows and choose loops. */
export const isSpan = `span <> 0 and span <> cardinality(${boundaries})`;
const isInSpans = `quarter >= ${first} and quarter < ${last}`;
export const isLeft = "trace_id <> all($3::uuid[])";

const toMoment = (quarter: string) => `to_timestamp(${quarter} * 900::float8)`;
export const isSentInSpans = `at >= ${toMoment(first)} and at < ${toMoment(last)}`;

type QuarterColumn = (typeof activity)[number] | "seconds";
/** Sets in the select list are faster than a join with unnest. */
export const selectTraceQuarters = (names: readonly QuarterColumn[], from = "trace_usage"): string => `
  select trace_id, facets, ${traceQuarters} as quarter
    ${names.map((name) => `, unnest(quarter_${name}) as ${name}`).join("")}
  from ${from} where user_id = $1 and day between date '1970-01-01' - 1 + ${first} / 96 and date '1970-01-01' + ${last} / 96`;

const negate = (names: readonly string[]) => list(names, (name) => `-${name} as ${name}`);

/** CTEs: `usage` by span and facets, `active` by span and session. */
export const usageBySpan = `
  usage as materialized (
    select ${findSpan("quarter")} as span, facets, ${sumColumns(summed)} from usage_quarter_hour
    where user_id = $1 and ${isInSpans} group by 1, 2
    union all
    select ${findSpan("quarter")}, facets, ${negate(activity)}, ${zeros(spending)}
    from (${selectTraceQuarters(activity)} and trace_id = any($3::uuid[])) as deleted where ${isInSpans}
    union all
    select span, facets, ${zeros(activity)}, ${negate(spending)} from (
      select ${findSpan(messageQuarter)} as span, facets, ${sumMessageUsage()} from message_usage
      where user_id = $1 and trace_id = any($3::uuid[]) and counted and ${isSentInSpans} group by 1, 2
    ) as deleted
  ),
  active as materialized (
    select distinct trace_id, facets, span from (
      select trace_id, facets, ${findSpan("quarter")} as span from (${selectTraceQuarters([])} and ${isLeft}) as quarters
    ) as placed where ${isSpan}
  )`;

const noSums = zeros(summed);
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

/** Parallel sessions count at most the seconds of a quarter. */
export async function readSeconds(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<{ span: number; seconds: number }[]> {
  const { rows } = await tx.query<{ span: number; seconds: number }>(
    `select ${findSpan("quarter")} - 1 as span, sum(least(seconds, 900))::int as seconds from (
       select quarter, sum(seconds) as seconds from (${selectTraceQuarters(["seconds"])} and ${isLeft}) as quarters
       where ${isInSpans} group by quarter
     ) as moments where seconds > 0 group by 1`,
    [userId, toQuarters(starts), gone],
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
