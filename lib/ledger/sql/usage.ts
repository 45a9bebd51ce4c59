// SQL: one statement for all traces of a chunk.
import "server-only";
import type { PoolClient } from "pg";
import type { LedgerTrace } from "#lib/ledger/part";
import { given, givenValues, hashFacets } from "#lib/ledger/sql/facets";
import { dayNumber } from "#lib/ledger/sql/roll-up";

type UsageStart = { id: string; from: number };

export type ChangedUsage = { day: number; key: string | null; traceId: string }[];

export const restPosition = -1;

const utcDay = dayNumber("(at at time zone 'UTC')::date");
const changed = `${utcDay} as day, request_key::text as key, message_usage.trace_id as "traceId"`;
const getIds = (places: UsageStart[]) => places.map(({ id }) => id);

export async function deleteUsage(tx: PoolClient, userId: string, places: UsageStart[]): Promise<ChangedUsage> {
  const { rows } = await tx.query<ChangedUsage[number]>(
    `delete from message_usage using unnest($2::uuid[], $3::int[]) as given (id, start)
     where message_usage.user_id = $1::uuid and trace_id = given.id
       and (position >= given.start or position = ${restPosition}) returning ${changed}`,
    [userId, getIds(places), places.map(({ from }) => from)],
  );
  return rows;
}

export type MessageSums = Record<
  "input" | "output" | "cacheRead" | "cacheWrite5m" | "cacheWrite1h" | "reasoning",
  number
> & { at: Date };

export async function sumMessages(tx: PoolClient, userId: string, ids: string[]): Promise<Map<string, MessageSums>> {
  const { rows } = await tx.query<MessageSums & { id: string }>(
    `select trace_id as id, sum(input_tokens)::float8 as input, sum(output_tokens)::float8 as output,
       sum(cache_read_tokens)::float8 as "cacheRead", sum(cache_write_5m_tokens)::float8 as "cacheWrite5m",
       sum(cache_write_1h_tokens)::float8 as "cacheWrite1h", sum(reasoning_tokens)::float8 as reasoning, max(at) as at
     from message_usage where user_id = $1 and trace_id = any($2) and position >= 0 and not replayed group by trace_id`,
    [userId, ids],
  );
  return new Map(rows.map(({ id, ...sums }) => [id, sums]));
}

export type UsageBefore = { at: Date | null; branch: string | null; model: string | null };

export async function readBefore(
  tx: PoolClient,
  userId: string,
  places: UsageStart[],
): Promise<Map<string, UsageBefore>> {
  const { rows } = await tx.query<UsageBefore & { id: string }>(
    `select given.id, greatest(stored.at, since.at) as at, coalesce(since.branch, stored.branch) as branch,
       coalesce(since.model, stored.model) as model
     from unnest($2::uuid[], $3::int[]) as given (id, start)
     left join lateral (
       select position, at, branch, model from message_usage
       where message_usage.user_id = $1 and trace_id = given.id and position < given.start order by position desc limit 1
     ) as stored on true
     left join lateral (
       select max(message.created_at) as at,
         (array_agg(metadata->>'branch' order by message.position desc) filter (where metadata ? 'branch'))[1] as branch,
         (array_agg(metadata->>'model' order by message.position desc) filter (where metadata ? 'model'))[1] as model
       from message where message.user_id = $1 and trace_id = given.id and message.position < given.start
         and message.position > coalesce(stored.position, -1)
     ) as since on true`,
    [userId, getIds(places), places.map(({ from }) => from)],
  );
  return new Map(rows.map(({ id, ...before }) => [id, before]));
}

/** `trace` is the index of the trace among those given, from 1. */
export type UsageRow = {
  trace: number;
  position: number;
  at: Date;
  model: string | null;
  branch: string | null;
  serviceTier: string | null;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  reasoning: number;
  costNano: bigint | null;
  recordedNano: bigint | null;
  replayed: boolean;
  tierNotPriced: boolean;
  key: string | undefined;
};

/** Text, because `pg` would format thousands of dates in this process's time zone. */
const columns: [string, (row: UsageRow) => unknown][] = [
  ["int", ({ trace }) => trace],
  ["int", ({ position }) => position],
  ["timestamptz", ({ at }) => at.toISOString()],
  ["text", ({ model }) => model],
  ["text", ({ branch }) => branch],
  ["text", ({ serviceTier }) => serviceTier],
  ["int", ({ input }) => input],
  ["int", ({ output }) => output],
  ["int", ({ cacheRead }) => cacheRead],
  ["int", ({ cacheWrite5m }) => cacheWrite5m],
  ["int", ({ cacheWrite1h }) => cacheWrite1h],
  ["int", ({ reasoning }) => reasoning],
  ["bigint", ({ costNano }) => costNano],
  ["bigint", ({ recordedNano }) => recordedNano],
  ["boolean", ({ replayed }) => replayed],
  ["boolean", ({ tierNotPriced }) => tierNotPriced],
  ["text", ({ key }) => key],
];

const insertRows = `
  with given as (select * from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[])
      with ordinality as given (id, source, trace_model, project, machine, project_id, place)),
  used as (select given.*, used.*, ${hashFacets("given", "used.model", "used.branch")} as facets
    from unnest(${columns.map(([type], at) => `$${at + 8}::${type}[]`).join(", ")})
      as used (trace, position, at, model, branch, service_tier, input, output, cache_read, cache_write_5m, cache_write_1h,
        reasoning, cost_nano, recorded_nano, replayed, tier_not_priced, key)
    join given on given.place = used.trace),
  named as (insert into usage_facets (user_id, facets, source, model, project, machine, branch, project_id)
    select distinct $1::uuid, facets, source, model, project, machine, branch, project_id from used
    on conflict do nothing)
  insert into message_usage (user_id, trace_id, position, at, facets, model, branch, service_tier, input_tokens, output_tokens,
    cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, replayed,
    tier_not_priced, request_key)
  select $1::uuid, id, position, at, facets, model, branch, service_tier, input, output, cache_read, cache_write_5m,
    cache_write_1h, reasoning, cost_nano, recorded_nano, replayed, tier_not_priced, hashtextextended(key, 0) from used
  returning ${changed}`;

export async function insertUsage(
  tx: PoolClient,
  userId: string,
  traces: LedgerTrace[],
  rows: UsageRow[],
): Promise<ChangedUsage> {
  if (rows.length === 0) return [];
  const values = [...givenValues(userId, traces), ...columns.map(([, value]) => rows.map(value))];
  return (await tx.query<ChangedUsage[number]>(insertRows, values)).rows;
}

export async function nameFacets(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<void> {
  await tx.query(
    `insert into usage_facets (user_id, facets, source, model, project, machine, branch, project_id)
     select distinct $1::uuid, ${hashFacets("given")}, source, model, project, machine, null, project_id from ${given}
     on conflict do nothing`,
    givenValues(userId, traces),
  );
}

export async function renameUsage(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<ChangedUsage> {
  const { rows: moved } = await tx.query<{ id: string }>(
    `select id from ${given} where exists (select 1 from trace_usage
       where trace_usage.user_id = $1 and trace_usage.trace_id = given.id and trace_usage.facets <> ${hashFacets("given")})`,
    givenValues(userId, traces),
  );
  const ids = new Set(moved.map(({ id }) => id));
  if (ids.size === 0) return [];
  const values = givenValues(
    userId,
    traces.filter(({ id }) => ids.has(id)),
  );
  const own = hashFacets("given", "message_usage.model", "message_usage.branch");
  await tx.query(
    `insert into usage_facets (user_id, facets, source, model, project, machine, branch, project_id)
     select distinct $1::uuid, ${own}, given.source, message_usage.model, given.project, given.machine, message_usage.branch,
       given.project_id
     from ${given} join message_usage on message_usage.user_id = $1::uuid and message_usage.trace_id = given.id
     on conflict do nothing`,
    values,
  );
  const { rows } = await tx.query<ChangedUsage[number]>(
    // Separate from the update: nodes of a distributed database accept no such function there.
    `with named as materialized (
       select message_usage.trace_id, message_usage.position, ${own} as facets
       from ${given} join message_usage on message_usage.user_id = $1::uuid and message_usage.trace_id = given.id
     )
     update message_usage set facets = named.facets from named
     where message_usage.user_id = $1::uuid and message_usage.trace_id = named.trace_id
       and message_usage.position = named.position and message_usage.facets <> named.facets
     returning ${changed}`,
    values,
  );
  return rows;
}

/** The row with the most output counts, not copied, of the trace that began first. */
export async function settleWinners(
  tx: PoolClient,
  userId: string,
  keys: string[],
): Promise<{ traceId: string; day: number }[]> {
  if (keys.length === 0) return [];
  const { rows } = await tx.query<Turned>(findTurned, [userId, keys]);
  const changes: { traceId: string; day: number }[] = [];
  for (const [traceId, turned] of Map.groupBy(rows, (row) => row.traceId)) {
    const positions = turned.map(({ position }) => position);
    const { rows: days } = await tx.query<{ day: number }>(
      `update message_usage set counted = not counted where user_id = $1 and trace_id = $2 and position = any($3::int[])
       returning ${utcDay} as day`,
      [userId, traceId, positions],
    );
    changes.push(...days.map(({ day }) => ({ traceId, day })));
  }
  return changes;
}

type Turned = { traceId: string; position: number };

/** The limits force index look-ups: for a user's first sessions the planner would choose a nested loop. */
const findTurned = `
  select trace_id as "traceId", position from (
    select same.trace_id, same.position, same.counted, row_number() over (
      partition by given.key order by same.output_tokens desc, same.replayed, trace.created_at, trace.id, same.position) = 1 as wins
    from (select $1::uuid as owner, key from unnest($2::bigint[]) as keys (key) offset 0) as given
    cross join lateral (
      select trace_id, position, counted, output_tokens, replayed from message_usage
      where message_usage.user_id = given.owner and request_key = given.key limit 2147483647) as same
    cross join lateral (
      select id, created_at from trace where trace.user_id = $1::uuid and trace.id = same.trace_id limit 1) as trace
  ) as ranked where counted <> wins`;
