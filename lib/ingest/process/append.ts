import "server-only";
import type { PoolClient } from "pg";
import { appendedHash, haveSameFields, type OwnFields } from "#lib/ingest/decode/content-hash";
import {
  type AppendedRow,
  readBeginnings,
  readStoredFields,
  type StoredFields,
  setTitle,
  updateAppended,
} from "#lib/ingest/process/sql/append";
import { hashStoredFrom } from "#lib/ingest/process/sql/messages";
import type { Pair, UploadSource } from "#lib/ingest/process/sql/traces";
import type { StoredBatch } from "#lib/ingest/process/stored-batch";
import { type DerivedTitle, TitleFinder, titleRanks } from "#lib/transcript/titles/derive-title";

type Changed = Pair & { row: AppendedRow; fields: StoredFields; hasMore: boolean };

export type Appends = { changed: Changed[]; unchanged: Pair[]; incomplete: Pair[]; deleted: Pair[] };

/**
 * An append fits if the stored trace has the count that was sent before, none at a new position, and no newer upload has
 * written it.
 */
export async function judgeAppends(
  tx: PoolClient,
  batch: StoredBatch,
  pairs: Pair[],
  userId: string,
): Promise<Appends> {
  const guessed = Object.groupBy(pairs, guess);
  const { deleted = [], incomplete = [] } = guessed;
  const candidates = [...(guessed.fits ?? []), ...(guessed.has ?? [])];
  const storedFields = await readStoredFields(
    tx,
    userId,
    candidates.map(({ stored }) => stored.id),
  );
  const doubtful = candidates.filter(({ header, stored }) => {
    const last = storedFields.get(stored.id)?.lastPosition ?? -1;
    return header.firstPosition !== null && header.firstPosition <= last;
  });
  const compared = await compareEnds(tx, batch, doubtful, userId);
  const appends: Appends = { changed: [], unchanged: [], incomplete, deleted };
  for (const pair of candidates) {
    const { header, stored } = pair;
    const { same, added } = compared.get(pair.index) ?? { same: 0, added: header.messageCount };
    const hasMore = header.messageCount > 0 && stored.messageCount === header.append;
    const isRight = hasMore ? added === header.messageCount : same === header.messageCount;
    const changed = change(pair, storedFields.get(stored.id) as StoredFields, hasMore);
    const isSame = !hasMore && (stored.newer || haveSameFields(changed.row.contentHash, stored.contentHash));
    if (!isRight) appends.incomplete.push(pair);
    else if (isSame) appends.unchanged.push(pair);
    else appends.changed.push(changed);
  }
  return appends;
}

export const isPromptsOnly = ({ metadata }: Pick<Pair["header"], "metadata">): boolean =>
  metadata?.includes('"prompts-only"') === true && JSON.parse(metadata).kind === "prompts-only";

/** Decides by the counts alone. */
function guess({ header, stored }: Pair): "deleted" | "fits" | "has" | "incomplete" {
  if (stored.deleted) return "deleted";
  // A session does not continue its prompts, nor they a session.
  if (header.metadata !== null && isPromptsOnly(header) !== stored.isPromptsOnly) return "incomplete";
  const before = header.append ?? 0;
  if (stored.messageCount === before + header.messageCount) return "has";
  return stored.messageCount === before && !stored.newer ? "fits" : "incomplete";
}

async function compareEnds(
  tx: PoolClient,
  batch: StoredBatch,
  pairs: Pair[],
  userId: string,
): Promise<Map<number, { same: number; added: number }>> {
  const from = pairs.map(({ header, stored }) => ({ traceId: stored.id, position: header.firstPosition ?? 0 }));
  const hashes = await hashStoredFrom(tx, userId, from);
  const none = { positions: [], hashes: [] };
  if (pairs.length === 0) return new Map();
  const compared = await batch.compare(
    pairs.map(({ index, stored }) => ({ index, stored: hashes.get(stored.id) ?? none })),
  );
  return new Map(
    pairs.map(({ index }, at) => [index, { same: compared[at]?.same.length ?? 0, added: compared[at]?.added ?? 0 }]),
  );
}

function change(pair: Pair, fields: StoredFields, hasMore: boolean): Changed {
  const { header, stored } = pair;
  const own: OwnFields = {
    model: header.model ?? fields.model,
    title: header.title ?? fields.title,
    project: header.project ?? fields.project,
    createdAt: header.createdAt ?? fields.createdAt,
    metadata: header.metadata ?? fields.metadata,
  };
  const isFirst = hasMore && fields.derivedTitle === null; // everything before was blank
  const row: AppendedRow = {
    ...own,
    id: stored.id,
    derivedTitle: isFirst ? header.derivedTitle : fields.derivedTitle,
    titleRank: isFirst ? header.titleRank : fields.titleRank,
    contentHash: appendedHash(own, stored.contentHash, header),
    header: hasMore ? header : { ...header, messageCount: 0, tokenCount: 0, rowBytes: 0, lastMessageAt: null },
  };
  return { ...pair, row, fields, hasMore };
}

export async function updateAppends(tx: PoolClient, changed: Changed[], upload: UploadSource): Promise<void> {
  const [first] = changed;
  if (!first) return;
  await updateAppended(
    tx,
    changed.map(({ row }) => row),
    upload,
    first.fields.now,
  );
}

/** An insertion requires deriving the data again. */
export const isBetween = ({ header, fields, hasMore }: Changed): boolean =>
  hasMore && (header.firstPosition ?? 0) <= (fields.lastPosition ?? -1);

/** New messages may give a better title, or come between stored ones. Call it once they are written. */
export async function mendTitles(tx: PoolClient, changed: Changed[], userId: string): Promise<void> {
  for (const one of changed) {
    const { header, fields, hasMore } = one;
    if (!hasMore || header.titleRank === null) continue;
    const { titleRank } = fields;
    const isKnown = titleRank !== null && titleRank >= titleRanks.sentence;
    const isDone = fields.derivedTitle === null || (isKnown && header.titleRank >= titleRank);
    if (isDone && !isBetween(one)) continue;
    const { title = null, rank = null } = (await deriveStoredTitle(tx, userId, fields.id)) ?? {};
    await setTitle(tx, userId, fields.id, { title, rank });
  }
}

/** After this many pages any title will do. */
const maxPages = 20;

async function deriveStoredTitle(tx: PoolClient, userId: string, traceId: string): Promise<DerivedTitle | undefined> {
  const finder = new TitleFinder();
  for (let [after, page] = [-1, 0]; page < maxPages && !finder.isFound; page += 1) {
    const beginnings = await readBeginnings(tx, userId, traceId, after);
    const last = beginnings.at(-1);
    if (!last) break;
    for (const beginning of beginnings) finder.see(beginning);
    after = last.position;
  }
  return finder.result();
}
