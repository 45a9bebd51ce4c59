import "server-only";
import { limits } from "#lib/core/limits";
import { sendText } from "#lib/http/send-stream";
import { type MessagePart, readParts, writeMessagesJson } from "#lib/messages/message-parts";
import type { Message } from "#lib/messages/schema";
import { getTrace } from "#lib/traces/queries";

const { messagesPageBytes } = limits.traces;

type MessagePage = { messages: Message[]; nextAfter: number | null };

/**
 * Streams the answer's JSON for a message of more than a MiB.
 * @throws SpoorError `not_found` as `getTrace`, `overloaded` as `heavyTurn` and `beginRead`
 */
export async function listMessages(
  userId: string,
  traceId: string,
  { after, limit }: { after?: number | undefined; limit: number },
): Promise<MessagePage | ReadableStream<Uint8Array>> {
  await getTrace(userId, traceId);
  const wanted = { after, limit, maxBytes: messagesPageBytes };
  const parts = readParts(userId, traceId, { ...wanted, patience: "refuse" });
  const { value: first } = await parts.next();
  if (!first) return { messages: [], nextAfter: null };
  const { messages, isLong, nextAfter } = first;
  if (!isLong && (nextAfter === null || messages.length === limit)) return { messages, nextAfter };
  // Read again, so that nothing waits in memory to be sent.
  return sendText(userId, "answer", writeAnswer(userId, traceId, readParts(userId, traceId, wanted)));
}

async function* writeAnswer(
  userId: string,
  traceId: string,
  parts: AsyncGenerator<MessagePart, undefined>,
): AsyncGenerator<string, undefined> {
  yield '{"ok":true,"messages":[';
  let sent = 0;
  let after: number | null = null;
  for await (const part of parts) {
    if (sent > 0 && part.messages.length > 0) yield ",";
    yield* writeMessagesJson(userId, traceId, part, (message) => message);
    sent += part.messages.length;
    after = part.nextAfter;
  }
  yield `],"nextAfter":${after}}`;
}
