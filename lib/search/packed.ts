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
import { countCharacters, firstCharacters } from "#lib/packs/text";
import { makePause } from "#lib/search/pause";
import {
  type Candidate,
  type CandidateBounds,
  type HitBits,
  keepLive,
  maxCharactersBefore,
  maxMetadataBytes,
  readHitRanges,
  type Text,
  type TextBounds,
} from "#lib/search/sql/read";
import { coarseTest, type Unit } from "#lib/search/unit";

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

/** So much of a text is looked through at once: a long one would keep the process from others for long. */
const pieceBytes = 1024 * 1024;
/** What is looked for is shorter. */
const overlapBytes = 4096;

/** The messages of packs in some ranges, or in all of them, that may have a unit, as long as each of them may be looked through. */
async function* messagesWith(
  tx: PoolClient,
  userId: string,
  { heads, ranges }: { heads: PackHead[]; ranges: Range[] | undefined },
  units: Unit[],
  mayRead: (message: PackedMessage) => boolean,
): AsyncGenerator<PackedMessage> {
  const isWanted = ({ position }: { position: number }) =>
    ranges === undefined || ranges.some(({ from, to }) => position >= from && position < to);
  const isNear = ({ firstPosition, lastPosition }: PackHead) =>
    ranges === undefined || ranges.some(({ from, to }) => lastPosition >= from && firstPosition < to);
  const [pause, mayHave] = [makePause(), coarseTest(units)];
  for await (const { rows } of readPacks(tx, userId, heads.filter(isNear))) {
    for (const message of messagesIn(rows)) {
      if (!mayRead(message)) return;
      if (!isWanted(message)) continue;
      let isFound = false;
      for (let at = 0; !isFound && (at === 0 || at < message.content.length); at += pieceBytes) {
        isFound = mayHave(message.content.toString("utf8", at, at + pieceBytes + overlapBytes));
        await pause();
      }
      if (isFound) yield message;
    }
  }
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

/** What ends a reading whose client has gone, or which takes as long as no statement may. */
function makeCheck(): () => void {
  const deadline = performance.now() + limits.reads.statementSeconds * 1000;
  const signal = requestSignal();
  return () => {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new SpoorError("overloaded");
  };
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
  const check = makeCheck();
  const mayRead = () => {
    check();
    return true;
  };
  const candidates: Candidate[] = [];
  for (const { traceId, ...packs } of await packedHits(tx, userId, traceIds, { hits, maxDocuments })) {
    let [count, before] = [0, 0];
    for await (const message of messagesWith(tx, userId, packs, units, mayRead)) {
      const { position, role } = message;
      const [characters, metadata] = [charactersIn(message.content), smallMetadata(message)];
      const isRead = characters <= maxCharacters && before < maxCharactersBefore;
      candidates.push({
        ...{ traceId, position, role },
        ...(isRead ? { metadata, content: `${message.content}` } : { metadata: null, content: null }),
      });
      before += characters + charactersOfMetadata(message, metadata);
      count += 1;
      if (count === maxMessages) break;
    }
  }
  return candidates;
}

/** Of a text of so many bytes the characters are not counted: it is beyond every bound. */
const manyBytes = 4 * maxCharactersBefore;
const charactersIn = (text: Buffer): number => (text.length > manyBytes ? text.length : countCharacters(text));

/** As `charactersBefore` of sql/read.ts counts them: metadata that is too large is none. */
const charactersOfMetadata = ({ metadata }: PackedMessage, small: unknown): number =>
  small === null || metadata === null ? 0 : countCharacters(metadata);

/** So many bytes of packs are looked through for excerpts, whatever time that takes: an order must not depend on the load. */
const maxBytesRead = 128 * 1024 * 1024;

/** As `readTexts` of sql/read.ts, of packed traces; those behind the last byte have none. */
export async function readPackedTexts(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  units: Unit[],
  bounds: TextBounds,
  within?: { hits: HitBits; maxDocuments: number },
): Promise<Text[]> {
  const check = makeCheck();
  let left = maxBytesRead;
  const mayRead = ({ content }: PackedMessage) => {
    check();
    left -= content.length;
    return left > 0;
  };
  const texts: Text[] = [];
  for (const { traceId, ...packs } of await packedHits(tx, userId, traceIds, within)) {
    const own: Text[] = [];
    let [matching, before] = [0, 0];
    for await (const message of messagesWith(tx, userId, packs, units, mayRead)) {
      matching += 1;
      if (before < maxCharactersBefore) {
        const { position, role } = message;
        const metadata = smallMetadata(message);
        const near = around(message.content, bounds);
        own.push({ traceId, position, role, metadata, content: near, matching: 0 });
        before += charactersIn(Buffer.from(near)) + charactersOfMetadata(message, metadata);
      }
      if (matching === bounds.maxMessages) break; // as many as are told
    }
    texts.push(...own.map((text) => ({ ...text, matching })));
    if (left <= 0) break;
  }
  return texts;
}

/** A text, or the surroundings of a word in it where it is long. */
function around(content: Buffer, { wholeCharacters, nearCharacters, word }: TextBounds): string {
  if (charactersIn(content) <= wholeCharacters) return `${content}`;
  const text = `${content}`;
  const place = Buffer.byteLength(text.slice(0, Math.max(0, text.toLowerCase().indexOf(word))));
  return `${firstCharacters(lastCharacters(content, place, nearCharacters), 2 * nearCharacters)}`;
}

/** A text from so many characters before a place on. */
function lastCharacters(text: Buffer, place: number, characters: number): Buffer {
  let from = place;
  for (let left = characters; left > 0 && from > 0; left -= 1) {
    from -= 1;
    while (from > 0 && ((text[from] as number) & 0xc0) === 0x80) from -= 1;
  }
  return text.subarray(from);
}
