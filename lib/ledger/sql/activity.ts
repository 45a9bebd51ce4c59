// Messages and their times, by trace, day and quarter of an hour. SQL: counted and summed in the database, 100,000 messages a
// second (docs/decisions/0015-usage.md).
import "server-only";
import type { PoolClient } from "pg";
import { pauseSeconds } from "#lib/ledger/digest/facts";
import type { LedgerTrace } from "#lib/ledger/part";
import { dayNumber, withDays } from "#lib/ledger/sql/days";
import { given, givenValues, hashFacets } from "#lib/ledger/sql/facets";

const base = hashFacets("given");

/** Those of the traces that were counted under another model: what was priced by it changes. */
export async function findRenamed(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select given.id from unnest($2::uuid[], $3::text[]) as given (id, model)
     where exists (
       select 1 from trace_usage join usage_facets on usage_facets.user_id = $1 and usage_facets.facets = trace_usage.facets
       where trace_usage.user_id = $1 and trace_usage.trace_id = given.id and usage_facets.model is distinct from given.model)`,
    [userId, traces.map(({ id }) => id), traces.map(({ model }) => model)],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Counts the messages of traces anew. @param isOwn whether those that were copied from another trace are left out
 * @returns the days, as text, whose sums change with that
 */
export async function recount(tx: PoolClient, userId: string, traces: LedgerTrace[], isOwn = false): Promise<string[]> {
  const before = await forget(tx, userId, ids(traces));
  const { rows } = await tx.query<{ day: number }>(isOwn ? insertOwnDays : insertDays, givenValues(userId, traces));
  return [...before, ...withDays(rows).map(({ day }) => day)];
}

/** Counts the messages at the ends of traces that grew: after as many as are counted, of which none changed. */
export async function countTails(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<string[]> {
  const { rows: moved } = await tx.query<{ day: number }>(
    // Apart from the update, in which nodes of a distributed database allow no such function.
    `with named as materialized (select given.id, ${base} as facets from ${given})
     update trace_usage set facets = named.facets from named
     where trace_usage.user_id = $1::uuid and trace_usage.trace_id = named.id and trace_usage.facets <> named.facets
     returning ${dayNumber("day")} as day`,
    givenValues(userId, traces),
  );
  const { rows } = await tx.query<{ day: number }>(
    `insert into trace_usage (user_id, trace_id, day, facets, ${sums}, ${arrays}) ${daysOf(tails, joinedQuarters)}
     on conflict (user_id, trace_id, day) do update set ${[sums, arrays]
       .flatMap((names) => names.split(", "))
       .map((name) => `${name} = excluded.${name}`)
       .join(", ")}
     returning ${dayNumber("day")} as day`,
    givenValues(userId, traces),
  );
  return withDays([...moved, ...rows]).map(({ day }) => day);
}

/** So many messages tell whether a trace begins with copies. */
const beginning = 10;

/** Those of the traces that begin with messages of another one, as a sub-agent does that was given its parent's. */
export async function findCopying(tx: PoolClient, userId: string, traceIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select given.id from unnest($2::uuid[]) as given (id) where exists (select from (
       select metadata from message where message.user_id = $1 and message.trace_id = given.id order by position limit ${beginning}
     ) as first where metadata->>'replayed' = 'true')`,
    [userId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Which of the traces are counted at all. */
export async function findCounted(tx: PoolClient, userId: string, traceIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    "select distinct trace_id as id from trace_usage where user_id = $1 and trace_id = any($2)",
    [userId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the counts of traces. @returns their days, as text */
export async function forget(tx: PoolClient, userId: string, traceIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ day: number }>(
    `delete from trace_usage where user_id = $1 and trace_id = any($2) returning ${dayNumber("day")} as day`,
    [userId, traceIds],
  );
  return withDays(rows).map(({ day }) => day);
}

/** Says of each day of traces which one was before. */
export async function linkDays(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `update trace_usage set since = linked.before from (
       select trace_id, day, lag(day) over (partition by trace_id order by day) as before
       from trace_usage where user_id = $1 and trace_id = any($2)) as linked
     where trace_usage.user_id = $1 and trace_usage.trace_id = linked.trace_id and trace_usage.day = linked.day
       and trace_usage.since is distinct from linked.before`,
    [userId, traceIds],
  );
}

const ids = (traces: LedgerTrace[]) => traces.map(({ id }) => id);

const sums = "messages, tokens, untimed, uncounted";
const arrays = "quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted, quarter_seconds";

/** The seconds since the message before, of those with a time, unless that was a pause: as lib/ledger/digest/facts.ts counts them. */
const secondsSince = (message: string, before = "null") => `
    floor(extract(epoch from ${message}.created_at)) - floor(extract(epoch from coalesce(
      lag(${message}.created_at) over (partition by ${message}.trace_id, ${message}.created_at is null order by ${message}.position),
      ${before}))) as seconds`;

/**
 * A message without a time counts with the latest one before it in its trace, else with the trace's start or last activity, else on
 * the first day of 1970 (`undatedDay`), which no one looks at; none is later than its upload. A single statement sees a trace either
 * before an upload or after it.
 */
const timed = `
  select message.trace_id, ${base} as facets, message.token_count, message.created_at, ${secondsSince("message")},
    least(trace.stored_at, coalesce(
      message.created_at,
      max(message.created_at) over (partition by message.trace_id order by message.position),
      trace.created_at,
      case when max(message.created_at) over (partition by message.trace_id) is not null then trace.activity_at end,
      'epoch')) as at
  from ${given}
  join trace on trace.user_id = $1::uuid and trace.id = given.id and trace.deleted_at is null
  join message on message.user_id = $1::uuid and message.trace_id = given.id`;

/** The same of the messages that are not counted yet; the latest time before them is that of the last quarter with one. */
const tails = `
  select tail.trace_id, ${base} as facets, tail.token_count, tail.created_at, ${secondsSince("tail", "before.created_at")},
    least(trace.stored_at, coalesce(
      tail.created_at,
      greatest(counted.latest, max(tail.created_at) over (partition by tail.trace_id order by tail.position)))) as at
  from ${given}
  join trace on trace.user_id = $1::uuid and trace.id = given.id and trace.deleted_at is null
  cross join lateral (
    select sum(messages)::bigint as messages,
      max(day::timestamp at time zone 'UTC' + quarters[cardinality(quarters)] * interval '15 minutes') as latest
    from trace_usage where trace_usage.user_id = $1::uuid and trace_usage.trace_id = given.id
  ) as counted
  cross join lateral (
    select position from message where message.user_id = $1::uuid and message.trace_id = given.id
    order by position offset counted.messages - 1 limit 1
  ) as latest
  left join lateral (
    select created_at from (
      select position, created_at from message
      where message.user_id = $1::uuid and message.trace_id = given.id and position <= latest.position
      order by position desc limit 100
    ) as recent where created_at is not null order by position desc limit 1
  ) as before on true
  cross join lateral (
    select message.trace_id, position, token_count, created_at from message
    where message.user_id = $1::uuid and message.trace_id = given.id and position > latest.position
  ) as tail`;

const quartersOf = (messages: string) => `
  select trace_id, facets, date_bin('15 minutes', at at time zone 'UTC', 'epoch') as at, count(*) as messages,
    coalesce(sum(token_count), 0) as tokens, count(*) - count(created_at) as untimed,
    count(*) - count(token_count) as uncounted, coalesce(sum(seconds) filter (where seconds between 1 and ${pauseSeconds}), 0) as seconds
  from (${messages}) as timed group by 1, 2, 3`;

/** New quarters together with those that are stored of the same days. */
const joinedQuarters = (messages: string) => `
  with fresh as (${quartersOf(messages)})
  select trace_id, facets, at, sum(messages) as messages, sum(tokens) as tokens, sum(untimed) as untimed,
    sum(uncounted) as uncounted, sum(seconds) as seconds
  from (
    select * from fresh
    union all
    select stored.trace_id, days.facets, stored.day + piece.quarter * interval '15 minutes', piece.messages, piece.tokens,
      piece.untimed, piece.uncounted, coalesce(piece.seconds, 0)
    from (select distinct trace_id, facets, at::date as day from fresh) as days
    join trace_usage as stored on stored.user_id = $1::uuid and stored.trace_id = days.trace_id and stored.day = days.day
    cross join lateral unnest(stored.quarters, stored.quarter_messages, stored.quarter_tokens, stored.quarter_untimed,
      stored.quarter_uncounted, stored.quarter_seconds) as piece (quarter, messages, tokens, untimed, uncounted, seconds)
  ) as pieces group by 1, 2, 3`;

const daysOf = (messages: string, quarters: (messages: string) => string) => `
  select $1::uuid, trace_id, at::date, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted),
    array_agg(extract(epoch from at::time) / 900 order by at), array_agg(messages order by at),
    array_agg(tokens order by at), array_agg(untimed order by at), array_agg(uncounted order by at),
    array_agg(seconds order by at)
  from (${quarters(messages)}) as quarters
  group by trace_id, at::date, facets`;

/** Only what begins with copies is asked whether a message is its own: metadata is read from where PostgreSQL keeps long values. */
const own = `${timed} and message.metadata->>'replayed' is distinct from 'true'`;

const insertFrom = (
  messages: string,
) => `insert into trace_usage (user_id, trace_id, day, facets, ${sums}, ${arrays}) ${daysOf(messages, quartersOf)}
  returning ${dayNumber("day")} as day`;
const [insertDays, insertOwnDays] = [insertFrom(timed), insertFrom(own)];
