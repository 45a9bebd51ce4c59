// Texts of packed traces for searches and the index. They are tested here: PostgreSQL can't inflate them, and giving them back to it
// would take longer than looking through them.
import "server-only";
import type { PoolClient } from "pg";
import { requestSignal } from "#lib/current-request";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";
import { messagesIn, type PackedMessage } from "#lib/packs/format";
import { headsOf, metadataOf, readPacks } from "#lib/packs/read";
import type { PackHead } from "#lib/packs/sql/read";
import { firstCharacters } from "#lib/packs/text";
import { makePause } from "#lib/search/pause";
import {
  type Candidate,
  type CandidateBounds,
  type HitBits,
  keepLive,
  maxCharactersBefore,
  readHitRanges,
  type Text,
  type TextBounds,
} from "#lib/search/sql/read";
import { composed } from "#lib/search/terms";
import { findIn, type Unit } from "#lib/search/unit";

/** Larger metadata holds whole outputs; in rows the bound is a quarter of it, as PostgreSQL compresses it. */
const maxMetadataBytes = 64 * 1024;

const smallMetadata = (message: PackedMessage): unknown =>
  (message.metadata?.length ?? 0) <= maxMetadataBytes ? metadataOf(message) : null;

/** A message as the index reads it: the beginning of its content. */
export const indexedOf = (message: PackedMessage, maxCharacters: number) => ({
  position: message.position,
  role: message.role,
  content: `${firstCharacters(message.content, maxCharacters)}`,
  metadata: smallMetadata(message),
});

/** Positions from one up to but without another. */
type Range = { from: number; to: number };

/** A longer text counts as one in which something is found, without a look at it: it would keep the process from others for long. */
const maxScannedBytes = 1024 * 1024;

/** A message in which something is found; `content` is null for one that is too long to be looked through. */
type FoundMessage = { message: PackedMessage; content: string | null };

/** The messages of packs in some ranges, or in all of them, in which a unit is found, as long as they may be looked through. */
async function* messagesWith(
  tx: PoolClient,
  userId: string,
  { heads, ranges }: { heads: PackHead[]; ranges: Range[] | undefined },
  units: Unit[],
  mayProceed: () => boolean,
): AsyncGenerator<FoundMessage> {
  const isWanted = ({ position }: { position: number }) =>
    ranges === undefined || ranges.some(({ from, to }) => position >= from && position < to);
  const isNear = ({ firstPosition, lastPosition }: PackHead) =>
    ranges === undefined || ranges.some(({ from, to }) => lastPosition >= from && firstPosition < to);
  const pause = makePause();
  for await (const { rows } of readPacks(tx, userId, heads.filter(isNear))) {
    for (const message of messagesIn(rows)) {
      if (!mayProceed()) return;
      if (!isWanted(message)) continue;
      const content = message.content.length <= maxScannedBytes ? `${message.content}` : null;
      if (content === null || has(content, units)) yield { message, content };
      await pause();
    }
  }
}

function has(content: string, units: Unit[]): boolean {
  const text = composed(content);
  return units.some((unit) => findIn(text, { units: [unit] }).found > 0);
}

/** The packs of those of some traces that have any, and which of their positions are hits. */
async function packedHits(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  within: { hits: HitBits; maxDocuments: number | null } | undefined,
) {
  const heads = await headsOf(tx, userId, await keepLive(tx, userId, traceIds));
  const packed = traceIds.filter((id) => heads.has(id));
  const ranges =
    within && packed.length > 0
      ? Map.groupBy(await readHitRanges(tx, userId, packed, within), ({ traceId }) => traceId)
      : undefined;
  return packed.map((traceId) => ({
    traceId,
    heads: heads.get(traceId) ?? [],
    ranges: within && (ranges?.get(traceId) ?? []),
  }));
}

/** As `readCandidates` of sql/read.ts, of the messages of packed traces. @throws SpoorError `overloaded` where it takes too long */
export async function readPackedCandidates(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  hits: HitBits,
  units: Unit[],
  { maxMessages, maxCharacters, maxDocuments }: CandidateBounds,
): Promise<Candidate[]> {
  const deadline = performance.now() + limits.reads.statementSeconds * 1000;
  const signal = requestSignal();
  const mayProceed = () => {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new SpoorError("overloaded");
    return true;
  };
  const candidates: Candidate[] = [];
  for (const { traceId, ...packs } of await packedHits(tx, userId, traceIds, { hits, maxDocuments })) {
    let [count, before] = [0, 0];
    for await (const { message, content } of messagesWith(tx, userId, packs, units, mayProceed)) {
      const { position, role } = message;
      const metadata = smallMetadata(message);
      const isRead = content !== null && content.length <= maxCharacters && before < maxCharactersBefore;
      candidates.push({
        ...{ traceId, position, role },
        ...(isRead ? { metadata, content } : { metadata: null, content: null }),
      });
      before += charactersOf(message, content, metadata);
      count += 1;
      if (count === maxMessages) break;
    }
  }
  return candidates;
}

/** As `charactersBefore` of sql/read.ts counts them: metadata that is too large is none. */
const charactersOf = (message: PackedMessage, content: string | null, metadata: unknown) =>
  (content?.length ?? message.content.length) + (metadata === null ? 0 : (message.metadata?.length ?? 0));

/** How long packs are read for excerpts; the traces after that have none. */
const maxReadingMs = 1500;

/** As `readTexts` of sql/read.ts, of packed traces. */
export async function readPackedTexts(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  units: Unit[],
  bounds: TextBounds,
  within?: { hits: HitBits; maxDocuments: number },
): Promise<Text[]> {
  const deadline = performance.now() + maxReadingMs;
  const signal = requestSignal();
  const mayProceed = () => {
    signal?.throwIfAborted();
    return performance.now() <= deadline;
  };
  const texts: Text[] = [];
  for (const { traceId, ...packs } of await packedHits(tx, userId, traceIds, within)) {
    const own: Text[] = [];
    let [matching, before] = [0, 0];
    for await (const { message, content } of messagesWith(tx, userId, packs, units, mayProceed)) {
      const text = content ?? `${message.content}`;
      if (content === null && !text.toLowerCase().includes(bounds.word)) continue;
      matching += 1;
      if (before < maxCharactersBefore) {
        const { position, role } = message;
        const metadata = smallMetadata(message);
        const near = around(text, bounds);
        own.push({ traceId, position, role, metadata, content: near, matching: 0 });
        before += charactersOf(message, near, metadata);
      }
      if (matching === bounds.maxMessages) break; // as many as are told
    }
    texts.push(...own.map((text) => ({ ...text, matching })));
    if (!mayProceed()) break;
  }
  return texts;
}

/** A text, or the surroundings of a word in it where it is long. */
function around(content: string, { wholeCharacters, nearCharacters, word }: TextBounds): string {
  if (content.length <= wholeCharacters) return content;
  const from = Math.max(0, content.toLowerCase().indexOf(word) - nearCharacters);
  return content.slice(from, from + 2 * nearCharacters).toWellFormed();
}
