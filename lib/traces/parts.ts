// Reading any number of messages of any size without holding more than one part of them.
import "server-only";
import { heavyTurn, type Patience } from "#lib/db/heavy";
import { maskValueForOthers } from "#lib/secrets/mask";
import { allForOthers } from "#lib/traces/for-others";
import { type Mask, maskJson, maskPieces } from "#lib/traces/masked";
import { presentMessage } from "#lib/traces/messages";
import type { Message } from "#lib/traces/queries";
import { readBytes, readPage } from "#lib/traces/sql/messages";

const MiB = 1024 * 1024;

/** How much is read at a time: messages and bytes of them, and at most so many bytes of a message that is larger. */
const held = { messages: 500, bytes: MiB, pieceBytes: 4 * MiB };

/** Some neighbouring messages, or one long one without its content and metadata. */
export type Part = { messages: Message[]; isLong: boolean; nextAfter: number | null };

type Wanted = { after?: number | undefined; limit?: number; maxBytes?: number; patience?: Patience };

/**
 * The messages after a position, in order. Each part is read when the one before was taken, as one of the user's heavy reads.
 *
 * @param wanted.maxBytes all parts together have so many, unless the first message alone has more.
 * @param wanted.patience of the first part; the others wait.
 * @throws as `heavyTurn`
 */
export async function* readParts(
  userId: string,
  traceId: string,
  { after = -1, limit = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, patience = "wait" }: Wanted = {},
): AsyncGenerator<Part, undefined> {
  const left = { messages: limit, bytes: maxBytes };
  for (let from = after, isFirst = true; ; isFirst = false) {
    const bounds = {
      limit: Math.min(held.messages, left.messages),
      maxBytes: Math.min(held.bytes, left.bytes),
      maxMessageBytes: held.bytes,
    };
    const read = () => readPage(userId, traceId, "after, in parts", from, bounds);
    const rows = await heavyTurn(userId, read, isFirst ? patience : "wait");
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    if (!isFirst && bytes > left.bytes) return;
    const last = rows.at(-1);
    const nextAfter = last?.hasMore ? last.position : null;
    yield { messages: rows.map(presentMessage), isLong: bytes > held.bytes, nextAfter };
    left.messages -= rows.length;
    left.bytes -= bytes;
    if (nextAfter === null || left.messages <= 0 || left.bytes <= 0) return;
    from = nextAfter;
  }
}

/**
 * A long message's content, or its metadata as JSON, in pieces of at most a MiB. For each statement PostgreSQL writes out the whole
 * value, so each reads twice as much as the one before, up to a bound: metadata of 22 MB takes 2.3 s instead of 7.3 with a MiB
 * each time, of 64 MB 19 instead of 54.
 *
 * @throws where the message is deleted or changed meanwhile
 */
export async function* readPieces(
  userId: string,
  traceId: string,
  position: number,
  column: "content" | "metadata",
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // a piece may end within a character
  let contentBytes: number | undefined;
  for (let [from, bytes] = [1, MiB]; ; [from, bytes] = [from + bytes, Math.min(2 * bytes, held.pieceBytes)]) {
    const read = await heavyTurn(userId, () => readBytes(userId, traceId, position, { column, from, bytes }), "wait");
    contentBytes ??= read?.contentBytes;
    if (!read || read.contentBytes !== contentBytes) throw new Error("a message changed while it was read");
    for (let at = 0; at < read.piece.length; at += MiB) {
      const text = decoder.decode(read.piece.subarray(at, at + MiB), { stream: true });
      if (text) yield text;
    }
    if (read.piece.length < bytes) return;
  }
}

/**
 * A part's messages as JSON, with commas between them.
 *
 * @param fieldsOf what is written of a message.
 * @param mask what is hidden in it.
 */
export async function* jsonOf(
  userId: string,
  traceId: string,
  { messages, isLong }: Part,
  fieldsOf: (message: Message) => object,
  mask?: Mask,
): AsyncGenerator<string, undefined> {
  const [first] = messages;
  if (!first) return;
  if (!isLong) {
    const shown = mask ? await allForOthers(messages, mask) : messages;
    yield shown.map((message) => JSON.stringify(fieldsOf(message))).join(",");
    return;
  }
  const { position } = first;
  const { content: _content, metadata, ...rest } = fieldsOf(first) as Partial<Message>;
  yield `${JSON.stringify(mask ? maskValueForOthers(rest, mask) : rest).slice(0, -1)},"content":"`;
  const content = readPieces(userId, traceId, position, "content");
  for await (const piece of mask ? maskPieces(content, mask) : content) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
  if (metadata !== undefined) yield ',"metadata":';
  if (metadata === null) yield "null";
  const json = readPieces(userId, traceId, position, "metadata");
  if (metadata && mask) yield await maskJson(json, mask);
  else if (metadata) yield* json;
  yield "}";
}
