import "server-only";
import type { PoolClient } from "pg";
import { pool, type Queryable, transaction } from "#lib/db/client";

type Due = { userId: string; id: string; messageCount: number; version: string };

/** What an upload or a deletion changes in any case; others who write the row (the search's mark) are not meant. */
const version = "concat(trace.upload_sequence, trace.deleted_at)";

/** What one transaction counts: a few tenths of a second's work. */
const messagesAtATime = 20_000;
const tracesAtATime = 500;
/** Of all processes one counts at a time. */
const lockNumber = 5_620_260_001;

/**
 * Counts what traces used, for those that changed since they were counted last. What is left to do stands in the rows
 * themselves (`usage_due`), so that it goes on where it was broken off.
 *
 * No upload waits for it: it locks a trace only to take the mark away, for the end of a transaction, and never waits for
 * one that an upload holds. A trace that an upload changed meanwhile keeps its mark and is counted once more.
 *
 * @param seconds how long to go on; what is left then is for the next call.
 * @param settledSeconds for how long a trace must have been as it is: one that grows line by line is not counted at each.
 * @returns how many traces were counted.
 */
export async function countUsage(seconds: number, settledSeconds = 0): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let counted = 0;
  while (performance.now() < deadline) {
    const some = await countSome(settledSeconds);
    if (some === 0) break;
    counted += some;
  }
  return counted;
}

async function countSome(settledSeconds: number): Promise<number> {
  // Looked at without a transaction first: that there is nothing to do is what it finds nearly always.
  if ((await findDue(pool(), settledSeconds, 1)).length === 0) return 0;
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ mine: boolean }>(`select pg_try_advisory_xact_lock(${lockNumber}) as mine`);
    if (!rows[0]?.mine) return 0;
    const due = await ofStayingUsers(tx, firstOf(await findDue(tx, settledSeconds, tracesAtATime)));
    if (due.length > 0) await count(tx, due);
    return due.length;
  });
}

async function findDue(from: Queryable, settledSeconds: number, limit: number): Promise<Due[]> {
  const { rows } = await from.query<Due>(
    `select user_id as "userId", id, message_count as "messageCount", ${version} as version
     from trace where usage_due and stored_at <= now() - make_interval(secs => $1) limit $2`,
    [settledSeconds, limit],
  );
  return rows;
}

/**
 * Those of users who are not being deleted. What is counted refers to its user: locked only then, its row would be waited for
 * in a circle by a deletion that wants what was counted before.
 */
async function ofStayingUsers(tx: Queryable, due: Due[]): Promise<Due[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from "user" where id = any($1) for key share skip locked`,
    [[...new Set(due.map(({ userId }) => userId))]],
  );
  const staying = new Set(rows.map(({ id }) => id));
  return due.filter(({ userId }) => staying.has(userId));
}

/** The first traces, as many as have no more messages than a transaction counts, and one in any case. */
function firstOf(due: Due[]): Due[] {
  let messages = 0;
  return due.filter(({ messageCount }, index) => {
    messages += messageCount;
    return index === 0 || messages <= messagesAtATime;
  });
}

async function count(tx: PoolClient, due: Due[]): Promise<void> {
  const keys = [due.map(({ userId }) => userId), due.map(({ id }) => id)];
  await tx.query(
    `delete from trace_usage using unnest($1::uuid[], $2::uuid[]) as due (user_id, id)
     where trace_usage.user_id = due.user_id and trace_usage.trace_id = due.id`,
    keys,
  );
  await tx.query(facetsSql, keys);
  await tx.query(countSql, keys);
  await tx.query(doneSql, [...keys, due.map(({ version }) => version)]);
}

/** One number for a trace's agent, model, project and machine: two sets share it only by an accident of 64 bits. */
const facets = "hashtextextended(jsonb_build_array(source, model, project, machine)::text, 0)";

const dueTraces = `unnest($1::uuid[], $2::uuid[]) as due (user_id, id)
  join trace on trace.user_id = due.user_id and trace.id = due.id and trace.deleted_at is null`;

const facetsSql = `
  insert into usage_facets (user_id, facets, source, model, project, machine)
  select distinct trace.user_id, ${facets}, source, model, project, machine from ${dueTraces}
  on conflict do nothing`;

/**
 * A message without a time counts with the latest one before it in its trace, else when the trace began or was last active;
 * none is later than its upload. The rows of one statement are those of one moment: a trace is seen before an upload or
 * after it.
 */
const countSql = `
  insert into trace_usage (user_id, trace_id, day, facets, messages, tokens, untimed, uncounted,
    quarters, quarter_messages, quarter_tokens, quarter_untimed, quarter_uncounted)
  select user_id, trace_id, at::date, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted),
    array_agg(extract(epoch from at::time) / 900 order by at), array_agg(messages order by at),
    array_agg(tokens order by at), array_agg(untimed order by at), array_agg(uncounted order by at)
  from (
    select user_id, trace_id, facets, date_bin('15 minutes', at at time zone 'UTC', 'epoch') as at, count(*) as messages,
      coalesce(sum(token_count), 0) as tokens, count(*) - count(created_at) as untimed,
      count(*) - count(token_count) as uncounted
    from (
      select message.user_id, trace_id, ${facets} as facets, message.token_count, message.created_at,
        least(trace.stored_at, coalesce(
          message.created_at,
          max(message.created_at) over (partition by message.user_id, trace_id order by position),
          trace.created_at, trace.activity_at)) as at
      from ${dueTraces}
      join message on message.user_id = due.user_id and message.trace_id = due.id
    ) as timed
    group by 1, 2, 3, 4
  ) as quarters
  group by user_id, trace_id, at::date, facets`;

const doneSql = `
  update trace set usage_due = false
  from (
    select trace.user_id, trace.id from unnest($1::uuid[], $2::uuid[], $3::text[]) as due (user_id, id, version)
    join trace on trace.user_id = due.user_id and trace.id = due.id and ${version} = due.version
    for no key update of trace skip locked
  ) as done
  where trace.user_id = done.user_id and trace.id = done.id`;

/** Removes the names that nothing is counted under any more, such as those of deleted traces. @returns how many sets */
export async function purgeFacets(): Promise<number> {
  const { rowCount } = await pool().query(
    `delete from usage_facets where not exists (
       select 1 from trace_usage where trace_usage.user_id = usage_facets.user_id and trace_usage.facets = usage_facets.facets)`,
  );
  return rowCount ?? 0;
}
