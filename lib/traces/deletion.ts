import "server-only";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { type Db, pool, prisma } from "#lib/db/client";
import { notFound } from "#lib/errors";
import { conditionsOf, type PlainSelection, type Selection } from "#lib/traces/conditions";
import { purgeTraces } from "#lib/traces/purge";
import { lookedUp } from "#lib/traces/search";

/** How many traces a selection has, and how many messages they have. */
export type SelectionCount = {
  traces: number;
  messages: number;
  /** Stands for the very set of traces: two sets have the same one only by an accident of 64 bits. */
  mark: string;
};

const countSql = `count(*)::int as traces, coalesce(sum(message_count), 0)::float8 as messages,
  coalesce(bit_xor(hashtextextended(id::text, 0)), 0)::text as mark`;

/** Tens of thousands of traces take longer than a transaction otherwise may. */
const manyTraces = { timeout: 600_000 };

/** Of a search, all that it finds, each of them read where the index can't be sure. */
const all = { limit: 1_000_000, maxRead: Number.POSITIVE_INFINITY };

/** Counts a selection as it stands now. @returns with the moment, as a selection's `storedUntil` takes it */
export async function countSelection(
  userId: string,
  selection: Selection,
): Promise<SelectionCount & { countedAt: string }> {
  const { where, values } = conditionsOf(userId, await lookedUp(userId, selection, all));
  const { rows } = await pool().query<SelectionCount & { now: Date }>(
    `select ${countSql}, now() from trace where ${where}`,
    values,
  );
  const [row] = rows;
  if (!row) throw new Error("a count has one row");
  const { now, ...count } = row;
  return { ...count, countedAt: now.toISOString() };
}

/**
 * Deletes the traces of a selection for good, and exactly those that were counted: where others match by now, nothing is
 * deleted. All of them are gone at once, everywhere. Their messages go in the same transaction where they are few, and
 * otherwise by the worker (`purgeDeleted`).
 *
 * @param mark what `countSelection` gave.
 * @returns how many are deleted; undefined where the selection was another one by now.
 */
export async function deleteSelection(
  userId: string,
  selection: Selection,
  mark: string,
  from: Origin,
): Promise<number | undefined> {
  const plain = await lookedUp(userId, selection, all);
  return prisma().$transaction(async (tx) => {
    const found = await markDeleted(tx, userId, plain, mark);
    if (found.mark !== mark) return undefined;
    const sessions = found.traces === 1 ? "1 session" : `${found.traces} sessions`;
    if (found.traces > 0) await recordEvent(tx, userId, "traces_deleted", sessions, from);
    return found.traces;
  }, manyTraces);
}

/**
 * Deletes one trace for good. What stays is a tombstone of its key, so that a client's next sync does not bring it back.
 *
 * @throws SpoorError `not_found` where it is deleted already, and for another user's as well
 */
export async function deleteTrace(userId: string, traceId: string, from: Origin): Promise<void> {
  await prisma().$transaction(async (tx) => {
    const gone = await markDeleted(tx, userId, { ids: [traceId] });
    if (gone.traces === 0) throw notFound();
    await recordEvent(tx, userId, "trace_deleted", traceId, from);
  });
}

/** Up to here the messages go at once: 10,000 take a tenth of a second. */
const messagesAtOnce = 10_000;

/**
 * Makes tombstones of a selection's traces. Their rows are taken in the order in which the merge of an upload takes them,
 * so that neither waits for the other in a circle. The number of messages stays until these are removed: by it the worker
 * knows what is left to do.
 *
 * @param mark where it is given, and the selection's is another one, nothing is deleted.
 * @returns what was found.
 */
async function markDeleted(
  tx: Db,
  userId: string,
  selection: PlainSelection,
  mark: string | null = null,
): Promise<SelectionCount> {
  const { where, values } = conditionsOf(userId, selection);
  const [row] = await tx.$queryRawUnsafe<(SelectionCount & { ids: string[] | null })[]>(
    `with doomed as materialized (
       select id, message_count from trace where ${where}
       order by source collate "C", source_id collate "C" for update
     ), found as (
       select ${countSql} from doomed
     ), gone as (
       update trace set deleted_at = now(), model = null, title = null, derived_title = null, project = null,
         machine = null, metadata = null, created_at = null, token_count = 0, sanitized = false,
         content_hash = '', messages_bytes = null, messages_hash = null, usage_due = true, search_pending = true
       from doomed, found
       where trace.user_id = $1 and trace.id = doomed.id and found.mark = coalesce($${values.push(mark)}, found.mark)
       returning trace.id, trace.message_count
     )
     select found.*, (select array_agg(id) from gone where message_count > 0) as ids from found`,
    ...values,
  );
  if (!row) throw new Error("a count has one row");
  const { ids, ...found } = row;
  if (ids && found.messages <= messagesAtOnce) await purgeTraces(tx, userId, ids);
  return found;
}
