import "server-only";
import { maskValueForOthers } from "#common/secrets/mask";
import { heavyTurn, type Patience } from "#lib/db/heavy";
import { allForOthers } from "#lib/masking/for-others";
import { type Mask, maskJson, maskPieces } from "#lib/masking/mask-pieces";
import { presentMessage } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { readBytes, readPage } from "#lib/messages/sql";

const MiB = 1024 * 1024;

const pageBounds = { messages: 500, bytes: MiB, pieceBytes: 4 * MiB };

/** Adjacent messages, or one long message without content and metadata. */
export type MessagePart = { messages: Message[]; isLong: boolean; nextAfter: number | null };

type PartOptions = { after?: number | undefined; limit?: number; maxBytes?: number; patience?: Patience };

/**
 * @param wanted.maxBytes bound on all parts, apart from the first message
 * @param wanted.patience applies to the first part
 */
export async function* readParts(
  userId: string,
  traceId: string,
  {
    after = -1,
    limit = Number.POSITIVE_INFINITY,
    maxBytes = Number.POSITIVE_INFINITY,
    patience = "wait",
  }: PartOptions = {},
): AsyncGenerator<MessagePart, undefined> {
  const left = { messages: limit, bytes: maxBytes };
  for (let from = after, isFirst = true; ; isFirst = false) {
    const bounds = {
      limit: Math.min(pageBounds.messages, left.messages),
      maxBytes: Math.min(pageBounds.bytes, left.bytes),
      maxMessageBytes: pageBounds.bytes,
    };
    const read = () => readPage(userId, traceId, "after, in parts", from, bounds);
    const rows = await heavyTurn(userId, read, isFirst ? patience : "wait");
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    if (!isFirst && bytes > left.bytes) return;
    const last = rows.at(-1);
    const nextAfter = last?.hasMore ? last.position : null;
    yield { messages: rows.map(presentMessage), isLong: bytes > pageBounds.bytes, nextAfter };
    left.messages -= rows.length;
    left.bytes -= bytes;
    if (nextAfter === null || left.messages <= 0 || left.bytes <= 0) return;
    from = nextAfter;
  }
}

/**
 * PostgreSQL produces the whole value for each statement, so each reads twice as much as the last.
 * @throws if the message is deleted or changed meanwhile
 */
export async function* readPieces(
  userId: string,
  traceId: string,
  position: number,
  column: "content" | "metadata",
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // a piece may end within a character
  let contentBytes: number | undefined;
  for (let [from, bytes] = [1, MiB]; ; [from, bytes] = [from + bytes, Math.min(2 * bytes, pageBounds.pieceBytes)]) {
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

export async function* writeMessagesJson(
  userId: string,
  traceId: string,
  { messages, isLong }: MessagePart,
  toFields: (message: Message) => object,
  mask?: Mask,
): AsyncGenerator<string, undefined> {
  const [first] = messages;
  if (!first) return;
  if (!isLong) {
    const shown = mask ? await allForOthers(messages, mask) : messages;
    yield shown.map((message) => JSON.stringify(toFields(message))).join(",");
    return;
  }
  const { position } = first;
  const { content: _content, metadata, ...rest } = toFields(first) as Partial<Message>;
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
