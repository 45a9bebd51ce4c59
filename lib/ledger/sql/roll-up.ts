// Sums by time and trace, always recomputed from their rows. SQL: aggregates over two tables.
import "server-only";
import type { PoolClient } from "pg";
import { activity, messageQuarter, spend, spending, traceQuarters } from "#lib/db/sql/usage-rows";

/** Days are numbers since 1970: nodes of a distributed database return no date as text, which depends on a setting. */
export const dayNumber = (date: string): string => `(${date} - date '1970-01-01')`;

const toDate = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

const columns = [...activity, ...spending];
const names = columns.join(", ");

/** Writes only what changed. @param days UTC days whose quarters of an hour are summed again */
export async function rollUp(tx: PoolClient, userId: string, days: number[]): Promise<void> {
  if (days.length === 0) return;
  await tx.query(
    `with fresh as materialized (
       select quarter, facets, ${columns.map((name) => `sum(${name}) as ${name}`).join(", ")} from (
         select ${traceQuarters}, facets,
           ${activity.map((name) => `unnest(quarter_${name})`).join(", ")}, ${spending.map(() => "0::bigint").join(", ")}
         from trace_usage where trace_usage.user_id = $1::uuid and day = any($2::date[])
         union all
         select ${messageQuarter}, facets, ${activity.map(() => "0").join(", ")}, ${spending.map(spend).join(", ")}
         from unnest($2::date[]) as wanted (day)
         cross join lateral (
           select * from message_usage where message_usage.user_id = $1::uuid and counted
             and at >= wanted.day::timestamp at time zone 'UTC' and at < (wanted.day + 1)::timestamp at time zone 'UTC' offset 0
         ) as used
       ) as rows (quarter, facets, ${names}) group by quarter, facets
     ), ended as (
       delete from usage_quarter_hour as stored using unnest($2::date[]) as wanted (day)
       where stored.user_id = $1::uuid
         and stored.quarter between (wanted.day - date '1970-01-01') * 96 and (wanted.day - date '1970-01-01') * 96 + 95
         and not exists (select from fresh where fresh.quarter = stored.quarter and fresh.facets = stored.facets)
     )
     insert into usage_quarter_hour as stored (user_id, quarter, facets, ${names})
     select $1::uuid, quarter, facets, ${names} from fresh
     on conflict (user_id, quarter, facets) do update
       set (${names}) = row(${columns.map((name) => `excluded.${name}`).join(", ")})
       where (${columns.map((name) => `stored.${name}`).join(", ")})
         is distinct from (${columns.map((name) => `excluded.${name}`).join(", ")})`,
    [userId, days.map(toDate)],
  );
}

/** `pg` returns sums of bigint as text. */
type TraceSums = Record<
  | "id"
  | "input"
  | "output"
  | "cacheRead"
  | "cacheWrite5m"
  | "cacheWrite1h"
  | "reasoning"
  | "unpriced"
  | "tierNotPriced"
  | "cost",
  string
> & { recorded: string | null };

export async function sumTraces(tx: PoolClient, userId: string, traceIds: string[]): Promise<TraceSums[]> {
  const { rows } = await tx.query<TraceSums>(
    `select trace_id as id, sum(input_tokens) as input, sum(output_tokens) as output, sum(cache_read_tokens) as "cacheRead",
       sum(cache_write_5m_tokens) as "cacheWrite5m", sum(cache_write_1h_tokens) as "cacheWrite1h",
       sum(reasoning_tokens) as reasoning, sum((${spend("unpriced_tokens")})::bigint) as unpriced,
       sum((${spend("tier_not_priced_tokens")})::bigint) as "tierNotPriced", coalesce(sum(cost_nano), 0) as cost, sum(recorded_nano) as recorded
     from message_usage where user_id = $1 and trace_id = any($2) and counted group by trace_id`,
    [userId, traceIds],
  );
  return rows;
}
