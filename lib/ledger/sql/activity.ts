// SQL: messages are counted and summed in the database.
import "server-only";
import type { PoolClient } from "pg";
import { pauseSeconds } from "#lib/ledger/digest/facts";
import type { LedgerTrace } from "#lib/ledger/part";
import { given, givenValues, hashFacets } from "#lib/ledger/sql/facets";
import { dayNumber } from "#lib/ledger/sql/roll-up";
import type { ChangedUsage } from "#lib/ledger/sql/usage";

const base = hashFacets("given");

/** Traces counted under another model, whose prices change. */
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
 * @param isOwn leaves out copied messages whose answers count elsewhere
 * @returns the affected UTC days
 */
export async function recount(tx: PoolClient, userId: string, traces: LedgerTrace[], isOwn = false): Promise<number[]> {
  const before = await forget(tx, userId, ids(traces));
  const { rows } = await tx.query<{ day: number }>(isOwn ? insertOwnDays : insertDays, givenValues(userId, traces));
  return [...before, ...rows.map(({ day }) => day)];
}

export async function countTails(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<number[]> {
  const { rows: moved } = await tx.query<{ day: number }>(
    // Separate from the update: nodes of a distributed database accept no such function there.
    `with named as materialized (select given.id, ${base} as facets from ${given})
     update trace_usage set facets = named.facets from named
     where trace_usage.user_id = $1::uuid and trace_usage.trace_id = named.id and trace_usage.facets <> named.facets
     returning ${dayNumber("day")} as day`,
    givenValues(userId, traces),
  );
  const { rows } = await tx.query<{ day: number }>(
    `insert into trace_usage (user_id, trace_id, day, facets, ${sums}, ${arrays}) ${selectDays(tails, joinedQuarters)}
     on conflict (user_id, trace_id, day) do update set ${[sums, arrays]
       .flatMap((names) => names.split(", "))
       .map((name) => `${name} = excluded.${name}`)
       .join(", ")}
     returning ${dayNumber("day")} as day`,
    givenValues(userId, traces),
  );
  return [...moved, ...rows].map(({ day }) => day);
}

const beginning = 10;

/** A sub-agent may begin with its parent's messages. */
export async function findCopying(tx: PoolClient, userId: string, traceIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select given.id from unnest($2::uuid[]) as given (id) where exists (select from (
       select metadata from message where message.user_id = $1 and message.trace_id = given.id order by position limit ${beginning}
     ) as first where metadata->>'replayed' = 'true')`,
    [userId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Selects the first answers of a trace that are not marked as copies. */
const firstAnswers = (trace: string) => `(
  select request_key as key from message_usage where message_usage.user_id = $1::uuid and message_usage.trace_id = ${trace}
    and request_key is not null and not replayed order by position limit ${beginning})`;

/** The limit forces index look-ups. */
const withAnswer = (key: string) => `(
  select trace_id from message_usage where message_usage.user_id = $1::uuid and request_key = ${key} and not replayed
  limit 2147483647)`;

/**
 * Finds traces that share answers without a mark, as where a session was resumed on a machine that lacks the original. Copies
 * begin alike, so the first answers are enough.
 *
 * @param removed answers that may have been shared
 */
export async function findRelatives(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  removed: ChangedUsage,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select distinct same.trace_id as id from unnest($3::bigint[], $4::uuid[]) as removed (key, trace_id)
     cross join lateral ${withAnswer("removed.key")} as same where same.trace_id <> removed.trace_id
     union
     select unnest(array[given.id, same.trace_id]) from unnest($2::uuid[]) as given (id)
     cross join lateral ${firstAnswers("given.id")} as first
     cross join lateral ${withAnswer("first.key")} as same where same.trace_id <> given.id`,
    [userId, traceIds, removed.map(({ key }) => key), removed.map(({ traceId }) => traceId)],
  );
  return new Set(rows.map(({ id }) => id));
}

export async function findCounted(tx: PoolClient, userId: string, traceIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    "select distinct trace_id as id from trace_usage where user_id = $1 and trace_id = any($2)",
    [userId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}

export async function forget(tx: PoolClient, userId: string, traceIds: string[]): Promise<number[]> {
  const { rows } = await tx.query<{ day: number }>(
    `delete from trace_usage where user_id = $1 and trace_id = any($2) returning ${dayNumber("day")} as day`,
    [userId, traceIds],
  );
  return rows.map(({ day }) => day);
}

const ids = (traces: LedgerTrace[]) => traces.map(({ id }) => id);

const sums = "messages, tokens, untimed, uncounted";
const arrays = "quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted, quarter_seconds";

/** Seconds since the previous dated message, or null for a pause, as in lib/ledger/digest/facts.ts. */
const secondsSince = (message: string, before = "null") => `
    floor(extract(epoch from ${message}.created_at)) - floor(extract(epoch from coalesce(
      lag(${message}.created_at) over (partition by ${message}.trace_id, ${message}.created_at is null order by ${message}.position),
      ${before}))) as seconds`;

/**
 * A message without a time counts at the latest time before it, else at the trace's start or last activity, else at the
 * epoch. No message counts later than its upload. One statement sees a trace either before or after an upload.
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

/** Messages not counted yet; the latest time before them is the last stored quarter of an hour. */
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

const selectQuarters = (messages: string) => `
  select trace_id, facets, date_bin('15 minutes', at at time zone 'UTC', 'epoch') as at, count(*) as messages,
    coalesce(sum(token_count), 0) as tokens, count(*) - count(created_at) as untimed,
    count(*) - count(token_count) as uncounted, coalesce(sum(seconds) filter (where seconds between 1 and ${pauseSeconds}), 0) as seconds
  from (${messages}) as timed group by 1, 2, 3`;

const joinedQuarters = (messages: string) => `
  with fresh as (${selectQuarters(messages)})
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

const selectDays = (messages: string, quarters: (messages: string) => string) => `
  select $1::uuid, trace_id, at::date, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted),
    array_agg(extract(epoch from at::time) / 900 order by at), array_agg(messages order by at),
    array_agg(tokens order by at), array_agg(untimed order by at), array_agg(uncounted order by at),
    array_agg(seconds order by at)
  from (${quarters(messages)}) as quarters
  group by trace_id, at::date, facets`;

const copiedAnswer = (place: string, order: "asc" | "desc") => `(
    select counted from message_usage as answer
    where answer.user_id = $1::uuid and answer.trace_id = message.trace_id and answer.replayed and answer.position ${place}
    order by answer.position ${order} limit 1)`;

const age = (trace: string) => `(
  select created_at, id from trace where trace.user_id = $1::uuid and trace.id = ${trace} limit 1)`;

/** Selects each session's older sessions with one of its first answers, the oldest first. */
const originals = `
  select pair.id, array_agg(older.id order by older.created_at, older.id) as older from (
    select distinct given.id, same.trace_id as original from ${given}
    cross join lateral ${firstAnswers("given.id")} as first
    cross join lateral ${withAnswer("first.key")} as same where same.trace_id <> given.id
  ) as pair
  cross join lateral ${age("pair.id")} as younger
  cross join lateral ${age("pair.original")} as older
  where (older.created_at, older.id) < (younger.created_at, younger.id) group by 1`;

/** Selects the messages that such an older session has, too. Pairs of sessions would read messages once per pair. */
const unmarked = `
  with originals as materialized (${originals})
  select same.id, unnest(positions) as position from (
    select id, positions, array_agg(id) filter (where is_unmarked) over (partition by created_at, role, hash) as holders
    from (
      select side.id, message.created_at, role, hashtextextended(content, 0) as hash, array_agg(position) as positions,
        bool_or(message.metadata->>'replayed' is distinct from 'true') as is_unmarked
      from (select id from originals union select unnest(older) from originals) as side
      join message on message.user_id = $1::uuid and message.trace_id = side.id and message.created_at is not null
      group by 1, 2, 3, 4
    ) as written
  ) as same join originals on originals.id = same.id and older && holders`;

/**
 * A copied message counts where its answer does, if its client marked it, and else in the oldest session. Only traces that
 * begin with copies need this check, which reads metadata from out-of-line storage.
 */
const own = `${timed}
  and not exists (select from (${unmarked}) as copied
    where copied.id = message.trace_id and copied.position = message.position)
  and (message.metadata->>'replayed' is distinct from 'true'
    or not coalesce(trace.metadata ?| array['forkedFrom', 'parent', 'continues'], false) or coalesce(
      case when message.role = 'user' then ${copiedAnswer("> message.position", "asc")} end,
      ${copiedAnswer("<= message.position", "desc")}, ${copiedAnswer("> message.position", "asc")}, false))`;

const insertFrom = (
  messages: string,
) => `insert into trace_usage (user_id, trace_id, day, facets, ${sums}, ${arrays}) ${selectDays(messages, selectQuarters)}
  returning ${dayNumber("day")} as day`;
const [insertDays, insertOwnDays] = [insertFrom(timed), insertFrom(own)];
