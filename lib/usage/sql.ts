// Usage is counted and summed in the database: reading the messages of a year to sum them here would take seconds
// (docs/decisions/0015-usage.md has the figures).
import "server-only";
import type { PoolClient } from "pg";
import { pool, type Queryable } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { type Facet, facets as facetFields } from "#lib/fields";
import type { Trace } from "#lib/generated/prisma/client";

/** A trace to be counted. `version` changes with each upload and with its deletion. */
export type DueTrace = Pick<Trace, "userId" | "id" | "messageCount"> & { version: string };

/** Changes with an upload and a deletion, and not with other writes of the row, such as the search index's mark. */
const version = "concat(trace.upload_sequence, trace.deleted_at)";

/** Only one process counts at a time. */
const lockNumber = 5_620_260_001;

/** @returns whether this transaction may count. SQL: an advisory lock */
export async function tryUsageLock(tx: PoolClient): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>("select pg_try_advisory_xact_lock($1) as mine", [lockNumber]);
  return rows[0]?.mine === true;
}

/** Traces that changed since they were counted, and not in the last seconds. SQL: the version is an expression of columns. */
export async function findDueTraces(from: Queryable, settledSeconds: number, limit: number): Promise<DueTrace[]> {
  const { rows } = await from.query<DueTrace>(
    `select user_id as "userId", id, message_count as "messageCount", ${version} as version
     from trace where usage_due and stored_at <= now() - make_interval(secs => $1) limit $2`,
    [settledSeconds, limit],
  );
  return rows;
}

/** Replaces the counts of a user's traces, and clears their marks. SQL: set-based, 100,000 messages a second. */
export async function replaceUsage(tx: PoolClient, userId: string, due: DueTrace[]): Promise<void> {
  const keys = [userId, due.map(({ id }) => id)];
  await tx.query("delete from trace_usage where user_id = $1 and trace_id = any($2)", keys);
  await tx.query(insertFacets, keys);
  await tx.query(insertUsage, keys);
  await tx.query(clearMarks, [...keys, due.map((one) => one.version)]);
}

/** One number for a trace's agent, model, project and machine: a 64-bit hash. */
const facets = "hashtextextended(jsonb_build_array(source, model, project, machine)::text, 0)";

const dueTraces = `unnest($2::uuid[]) as due (id)
  join trace on trace.user_id = $1::uuid and trace.id = due.id and trace.deleted_at is null`;

const insertFacets = `
  insert into usage_facets (user_id, facets, source, model, project, machine)
  select distinct $1::uuid, ${facets}, source, model, project, machine from ${dueTraces}
  on conflict do nothing`;

/**
 * A message without a time counts with the latest one before it in its trace, else with the trace's start or last activity;
 * none is later than its upload. A single statement sees a trace either before an upload or after it.
 */
const insertUsage = `
  insert into trace_usage (user_id, trace_id, day, facets, messages, tokens, untimed, uncounted,
    quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
  select $1::uuid, trace_id, at::date, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted),
    array_agg(extract(epoch from at::time) / 900 order by at), array_agg(messages order by at),
    array_agg(tokens order by at), array_agg(untimed order by at), array_agg(uncounted order by at)
  from (
    select trace_id, facets, date_bin('15 minutes', at at time zone 'UTC', 'epoch') as at, count(*) as messages,
      coalesce(sum(token_count), 0) as tokens, count(*) - count(created_at) as untimed,
      count(*) - count(token_count) as uncounted
    from (
      select trace_id, ${facets} as facets, message.token_count, message.created_at,
        least(trace.stored_at, coalesce(
          message.created_at,
          max(message.created_at) over (partition by trace_id order by position),
          trace.created_at, trace.activity_at)) as at
      from ${dueTraces}
      join message on message.user_id = $1::uuid and message.trace_id = due.id
    ) as timed
    group by 1, 2, 3
  ) as quarters
  group by trace_id, at::date, facets`;

/** Skips traces locked by an upload, and those changed meanwhile: they keep their mark. */
const clearMarks = `
  update trace set usage_due = false
  from (
    select trace.id from unnest($2::uuid[], $3::text[]) as due (id, version)
    join trace on trace.user_id = $1::uuid and trace.id = due.id and ${version} = due.version
    for no key update of trace skip locked
  ) as done
  where trace.user_id = $1::uuid and trace.id = done.id`;

/** Deletes facets that nothing is counted under any more. SQL: no relation between the two tables. @returns how many */
export async function purgeFacets(): Promise<number> {
  const { rows: users } = await pool().query<{ userId: string }>(
    `select distinct user_id as "userId" from usage_facets where not exists (
       select 1 from trace_usage where trace_usage.user_id = usage_facets.user_id and trace_usage.facets = usage_facets.facets)`,
  );
  let deleted = 0;
  for (const { userId } of users) {
    const { rowCount } = await pool().query(
      `delete from usage_facets where user_id = $1 and not exists (
         select 1 from trace_usage where trace_usage.user_id = $1 and trace_usage.facets = usage_facets.facets)`,
      [userId],
    );
    deleted += rowCount ?? 0;
  }
  return deleted;
}

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
