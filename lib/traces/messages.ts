import "server-only";
import { heavyTurn } from "#lib/db/heavy";
import { limits } from "#lib/limits";
import type { Message } from "#lib/traces/queries";
import type { MessageRow } from "#lib/traces/sql/messages";
import { readAt, readPage } from "#lib/traces/stored";

/**
 * What bounds a page: whichever of both is reached first. `maxBytes` of content and metadata; one message always comes, but
 * of one over `maxMessageBytes` only the start.
 */
export type PageBounds = { limit: number; maxBytes?: number; maxMessageBytes?: number };

const { messagesPageBytes } = limits.traces;

/**
 * The messages after a position, in order; none of a deleted trace.
 *
 * @param after -1 for the first message.
 * @returns `nextAfter` is the `after` of the next page, null after the last message.
 */
export async function readMessages(
  userId: string,
  traceId: string,
  after: number,
  { limit, maxBytes = messagesPageBytes, maxMessageBytes }: PageBounds,
): Promise<{ messages: Message[]; nextAfter: number | null }> {
  const rows = await readPage(userId, traceId, "after", after, { limit, maxBytes, maxMessageBytes });
  const last = rows.at(-1);
  return { messages: rows.map(presentMessage), nextAfter: last?.hasMore ? last.position : null };
}

/** The same as one of the user's heavy reads, for those who read a whole trace page by page. */
export const readMessagesInTurn = (
  userId: string,
  traceId: string,
  after: number,
  bounds: PageBounds,
): ReturnType<typeof readMessages> => heavyTurn(userId, () => readMessages(userId, traceId, after, bounds), "wait");

/** The messages right before a position, in order, and whether there are earlier ones; none of a deleted trace. */
export async function readEarlier(
  userId: string,
  traceId: string,
  before: number,
  { limit, maxBytes = messagesPageBytes, maxMessageBytes }: PageBounds,
): Promise<{ messages: Message[]; hasMore: boolean }> {
  const rows = await readPage(userId, traceId, "before", before, { limit, maxBytes, maxMessageBytes });
  return { messages: rows.map(presentMessage), hasMore: rows[0]?.hasMore ?? false };
}

/** The messages at these positions, in order, until they exceed the bytes of a page; none of a deleted trace. */
export async function readMessagesAt(userId: string, traceId: string, positions: number[]): Promise<Message[]> {
  return (await readAt(userId, traceId, positions, messagesPageBytes)).map(presentMessage);
}

/** A message as the API and the pages show it. */
export function presentMessage(row: MessageRow): Message {
  const { position, role, content, tokenCount, createdAt, metadata } = row;
  return {
    position,
    role,
    content,
    tokenCount,
    createdAt: createdAt?.toISOString() ?? null,
    metadata: metadata as Message["metadata"],
  };
}
