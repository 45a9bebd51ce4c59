// The messages of a trace as they are stored: in rows (sql/messages.ts), or in packs (lib/packs).
import "server-only";
import { pool, prisma } from "#lib/db/client";
import { inflate, messagesIn, type PackedMessage } from "#lib/packs/format";
import { fromRowsOrPacks, metadataOf, readMessages, readPacks } from "#lib/packs/read";
import { type PackHead, readHeads, readHolding, readNear } from "#lib/packs/sql/read";
import { firstCharacters } from "#lib/packs/text";
import {
  type ByteRange,
  type MessageRow,
  maxStart,
  type PageBounds,
  type PageSide,
  type Piece,
  readBytes as readBytesOfRow,
  readPage as readPageOfRows,
  readAt as readRowsAt,
  restIsLeftOut,
} from "#lib/traces/sql/messages";

/** A page of messages, as `readPage` of sql/messages.ts reads one of rows. */
export const readPage = (
  userId: string,
  traceId: string,
  side: PageSide,
  position: number,
  bounds: PageBounds,
): Promise<(MessageRow & { hasMore: boolean })[]> =>
  fromRowsOrPacks(
    () => readPageOfRows(userId, traceId, side, position, bounds),
    () => readPackedPage(userId, traceId, side, position, bounds),
  );

async function readPackedPage(
  userId: string,
  traceId: string,
  side: PageSide,
  position: number,
  { limit, maxBytes, maxMessageBytes }: PageBounds,
): Promise<(MessageRow & { hasMore: boolean })[]> {
  const isBefore = side === "before";
  const near = { side: isBefore ? "before" : "after", position, limit, maxBytes } as const;
  const packs = await readNear(pool(), userId, traceId, near);
  const cut = side === "after, in parts" ? withoutContent : withStart;
  const page: MessageRow[] = [];
  let [bytes, isFull] = [0, false];
  for (const pack of packs) {
    const messages = [...messagesIn(await inflate(pack.body, pack.bytes))];
    for (const message of isBefore ? messages.reverse() : messages) {
      if (isBefore ? message.position >= position : message.position <= position) continue;
      const size = sizeOf(message);
      isFull = page.length > 0 && (page.length >= limit || bytes + size > maxBytes);
      if (isFull) break;
      page.push(toRow(message, maxMessageBytes, cut));
      bytes += size;
    }
    if (isFull) break;
  }
  const hasMore = isFull || packs.length < (packs[0]?.all ?? 0);
  return (isBefore ? page.reverse() : page).map((row) => ({ ...row, hasMore }));
}

const sizeOf = ({ content, metadata }: PackedMessage) => content.length + (metadata?.length ?? 0);

/** What comes of a message that is too large. */
type Cut = (message: PackedMessage) => Pick<MessageRow, "content" | "metadata">;

const withStart: Cut = ({ content }) => ({
  content: `${firstCharacters(content, maxStart)}\n\n${restIsLeftOut}`,
  metadata: null,
});
const withoutContent: Cut = ({ metadata }) => ({ content: "", metadata: metadata === null ? null : {} });

function toRow(message: PackedMessage, maxBytes: number | undefined, cut: Cut): MessageRow {
  const { position, role, tokenCount, createdAt } = message;
  const bytes = sizeOf(message);
  const isWhole = maxBytes === undefined || bytes <= maxBytes;
  const shown = isWhole
    ? { content: message.content.toString(), metadata: metadataOf(message) as MessageRow["metadata"] }
    : cut(message);
  return { position, role, tokenCount, createdAt, bytes, ...shown };
}

/** Some bytes of a message, as `readBytes` of sql/messages.ts reads them of a row. */
export async function readBytes(
  userId: string,
  traceId: string,
  position: number,
  range: ByteRange,
): Promise<Piece | undefined> {
  const [piece] = await fromRowsOrPacks(
    () => readBytesOfRow(userId, traceId, position, range),
    () => readPackedBytes(userId, traceId, position, range),
  );
  return piece;
}

async function readPackedBytes(
  userId: string,
  traceId: string,
  position: number,
  { column, from, bytes }: ByteRange,
): Promise<Piece[]> {
  for await (const message of messagesAt(userId, traceId, [position])) {
    const text = message[column] ?? Buffer.alloc(0);
    return [{ piece: text.subarray(from - 1, from - 1 + bytes), contentBytes: message.content.length }];
  }
  return [];
}

/** The messages at some positions, as `readAt` of sql/messages.ts reads them of rows. */
export const readAt = (userId: string, traceId: string, positions: number[], maxBytes: number): Promise<MessageRow[]> =>
  fromRowsOrPacks(
    () => readRowsAt(userId, traceId, positions, maxBytes),
    async () => {
      const rows: MessageRow[] = [];
      let before = 0;
      for await (const message of messagesAt(userId, traceId, positions)) {
        if (before >= maxBytes) break;
        rows.push(toRow(message, maxBytes, withStart));
        before += sizeOf(message);
      }
      return rows;
    },
  );

async function* messagesAt(userId: string, traceId: string, positions: number[]): AsyncGenerator<PackedMessage> {
  const wanted = new Set(positions);
  const heads = await readHolding(pool(), userId, traceId, positions);
  for await (const message of readMessages(pool(), userId, heads)) if (wanted.has(message.position)) yield message;
}

/** Counts a trace's messages before or after a position, by the primary key; the trace must be known to be live. */
export async function countMessages(
  userId: string,
  traceId: string,
  range: { before: number } | { after: number },
): Promise<number> {
  const position = "before" in range ? { lt: range.before } : { gt: range.after };
  const counted = async () => {
    const count = await prisma().message.count({ where: { userId, traceId, position } });
    return count > 0 ? [count] : [];
  };
  const packed = async () => {
    const count = await countPacked(userId, traceId, range);
    return count > 0 ? [count] : [];
  };
  const [count = 0] = await fromRowsOrPacks(counted, packed);
  return count;
}

/** Of the packs only that one is inflated in which the position is. */
async function countPacked(
  userId: string,
  traceId: string,
  range: { before: number } | { after: number },
): Promise<number> {
  const isIn = (position: number) => ("before" in range ? position < range.before : position > range.after);
  const heads = await readHeads(pool(), userId, [traceId]);
  const isDivided = ({ firstPosition, lastPosition }: PackHead) => isIn(firstPosition) !== isIn(lastPosition);
  const whole = heads.filter((head) => isIn(head.firstPosition) && isIn(head.lastPosition));
  let count = whole.reduce((sum, { messages }) => sum + messages, 0);
  for await (const { rows } of readPacks(pool(), userId, heads.filter(isDivided)))
    for (const { position } of messagesIn(rows)) if (isIn(position)) count += 1;
  return count;
}
