import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { notFound } from "#lib/core/errors";
import { allowLong, type Db, prisma } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { unlinkPictures } from "#lib/messages/pictures/sql";
import { deleteOriginalsByTrace } from "#lib/originals/sql";
import { resolveSearch } from "#lib/search/search-traces";
import type { PlainSelection, Selection } from "#lib/search/sql/selection";
import { purgeMessages } from "#lib/traces/purge";
import { countSelected, lockSelected, releaseChildren, type SelectionCount } from "#lib/traces/sql/deletion";

/** Tens of thousands of traces take longer than other transactions may. */
const manyTraces = { timeout: 600_000 };

/** A deletion must verify every hit in the text. */
const allHits = { limit: 1_000_000, maxVerified: Number.POSITIVE_INFINITY };

/** @returns the count and the moment, for the selection's `storedUntil` */
export async function countSelection(
  userId: string,
  selection: Selection,
): Promise<SelectionCount & { countedAt: string }> {
  const { now, ...count } = await countSelected(userId, await resolveSearch(userId, selection, allHits));
  return { ...count, countedAt: now.toISOString() };
}

/**
 * Deletes exactly the traces that were counted; the worker removes many messages (`purgeDeleted`).
 * @param mark from `countSelection`
 * @returns undefined if the selection changed
 * @throws SpoorError `overloaded` as `heavyTurn`
 */
export async function deleteSelection(
  userId: string,
  selection: Selection,
  mark: string,
  from: AuditOrigin,
): Promise<number | undefined> {
  const plain = await resolveSearch(userId, selection, allHits);
  // Concurrent deletions would each wait with a connection.
  return heavyTurn(userId, async () => {
    const ids = await prisma().$transaction((tx) => deleteSelected(tx, userId, plain, mark, from), manyTraces);
    if (ids) await releaseChildren(userId, ids);
    return ids?.length;
  });
}

async function deleteSelected(tx: Db, userId: string, selection: PlainSelection, mark: string, from: AuditOrigin) {
  await allowLong(tx);
  const found = await lockSelected(tx, userId, selection);
  if (found.mark !== mark) return undefined;
  for (let at = 0; at < found.ids.length; at += idsAtOnce) {
    const ids = found.ids.slice(at, at + idsAtOnce);
    await makeTombstones(tx, userId, ids);
    if (found.messages > 0 && found.messages <= messagesAtOnce) await purgeMessages(tx, userId, ids);
  }
  const sessions = found.traces === 1 ? "1 session" : `${found.traces} sessions`;
  if (found.traces > 0) await recordEvent(tx, userId, "traces_deleted", sessions, from);
  return found.ids;
}

/** Each id is a parameter. */
const idsAtOnce = 5000;
/** A tenth of a second. */
const messagesAtOnce = 10_000;

/**
 * A tombstone keeps a client's next sync from restoring it.
 * @throws SpoorError `not_found` for a deleted trace and for another user's
 */
export async function deleteTrace(userId: string, traceId: string, from: AuditOrigin): Promise<void> {
  await prisma().$transaction(async (tx) => {
    if ((await makeTombstones(tx, userId, [traceId])) === 0) throw notFound();
    const { messageCount } = await tx.trace.findUniqueOrThrow({
      where: { userId_id: { userId, id: traceId } },
      select: { messageCount: true },
    });
    if (messageCount <= messagesAtOnce) await purgeMessages(tx, userId, [traceId]);
    await recordEvent(tx, userId, "trace_deleted", traceId, from);
  });
  await releaseChildren(userId, [traceId]);
}

const nothingDerived = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  unpricedTokens: 0,
  tierNotPricedTokens: 0,
  costNano: 0,
  recordedNano: null,
  filesChanged: 0,
  linesAdded: 0,
  linesRemoved: 0,
  turnCount: 0,
  callCount: 0,
  errorCount: 0,
  activeSeconds: 0,
  shortTitle: null,
  tools: null,
  spark: null,
  trivial: false,
};

const nothingMarked = { customTitle: null, starredAt: null, archivedAt: null, note: null, tags: [] };

/**
 * `messageCount` shows the worker what remains until the messages are purged.
 * @returns how many traces were not deleted before
 */
async function makeTombstones(tx: Db, userId: string, ids: string[]): Promise<number> {
  const { count } = await tx.trace.updateMany({
    where: { userId, id: { in: ids }, deletedAt: null },
    data: {
      deletedAt: new Date(),
      model: null,
      title: null,
      derivedTitle: null,
      titleRank: null,
      project: null,
      machine: null,
      metadata: Prisma.DbNull,
      createdAt: null,
      tokenCount: 0,
      sanitized: false,
      contentHash: new Uint8Array(),
      messagesBytes: null,
      messagesHash: null,
      storedBytes: 0,
      ...nothingDerived,
      ...nothingMarked,
      usageDue: true,
      ledgerDue: true,
      searchPending: true,
    },
  });
  await unlinkPictures(tx, userId, ids);
  await deleteOriginalsByTrace(tx, userId, ids);
  return count;
}
