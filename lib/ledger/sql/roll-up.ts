// Sums by time and trace, always recomputed from their rows. SQL: aggregates over two tables.
import "server-only";
import type { PoolClient } from "pg";

const tokenColumns = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "reasoning_tokens",
];
/** Output includes reasoning. The sum may exceed 32 bits. */
const total =
  "input_tokens::bigint + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens";
const unpriced = `case when cost_nano is null then ${total} else 0 end`;
const tierNotPriced = `case when tier_not_priced then ${total} else 0 end`;
const both = "cost_nano is not null and recorded_nano is not null";

const counts = ["messages", "tokens", "untimed", "uncounted", "sessions"];
const amounts = [
  ...tokenColumns,
  "cost_nano",
  "recorded_nano",
  "unpriced_tokens",
  "tier_not_priced_tokens",
  "compared_nano",
  "compared_recorded_nano",
];
const columns = [...counts, ...amounts];

/** @param days UTC days whose quarters of an hour are summed again */
export async function rollUp(tx: PoolClient, userId: string, days: string[]): Promise<void> {
  if (days.length === 0) return;
  const values = [userId, days];
  await tx.query("delete from usage_day where user_id = $1 and day = any($2::date[])", values);
  await tx.query(
    `insert into usage_day (user_id, day, facets, ${columns.join(", ")})
     select $1::uuid, day, facets, ${columns.map((name) => `sum(${name})`).join(", ")} from (
       select day, facets, messages, tokens, untimed, uncounted, 1 as sessions, ${amounts.map(() => "0::bigint").join(", ")}
       from trace_usage where trace_usage.user_id = $1::uuid and day = any($2::date[])
       union all
       select wanted.day, facets, ${counts.map(() => "0").join(", ")}, ${tokenColumns.join(", ")},
         coalesce(cost_nano, 0), coalesce(recorded_nano, 0), ${unpriced}, ${tierNotPriced},
         case when ${both} then cost_nano else 0 end, case when ${both} then recorded_nano else 0 end
       from unnest($2::date[]) as wanted (day)
       cross join lateral (
         select * from message_usage where message_usage.user_id = $1::uuid and counted
           and at >= wanted.day::timestamp at time zone 'UTC' and at < (wanted.day + 1)::timestamp at time zone 'UTC' offset 0
       ) as used
     ) as rows (day, facets, ${columns.join(", ")})
     group by day, facets`,
    values,
  );
}

/** `pg` returns sums of bigint as text. */
export type TraceSums = Record<
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
       sum(reasoning_tokens) as reasoning, sum((${unpriced})::bigint) as unpriced,
       sum((${tierNotPriced})::bigint) as "tierNotPriced", coalesce(sum(cost_nano), 0) as cost, sum(recorded_nano) as recorded
     from message_usage where user_id = $1 and trace_id = any($2) and counted group by trace_id`,
    [userId, traceIds],
  );
  return rows;
}
