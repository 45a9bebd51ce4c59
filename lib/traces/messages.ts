import "server-only";
import { inSlices } from "#lib/concurrency/slices";
import { prisma } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import { limits } from "#lib/limits";
import type { SharedRange } from "#lib/traces/for-others";
import type { Message } from "#lib/traces/queries";
import { type MessageRow, readAt, readPage } from "#lib/traces/sql/messages";

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

/** The same as one of the user's heavy reads. */
const readMessagesInTurn = (
  userId: string,
  traceId: string,
  after: number,
  bounds: PageBounds,
): ReturnType<typeof readMessages> => heavyTurn(userId, () => readMessages(userId, traceId, after, bounds), "wait");

/**
 * Shows the messages of a part of a trace to `see`, in order. Between pages others of the user's heavy reads have their turn, and
 * within them other requests.
 *
 * @param see returns false where it needs no more.
 */
export async function visitMessages(
  userId: string,
  traceId: string,
  { from, to }: SharedRange,
  bounds: PageBounds,
  see: (message: Message) => unknown,
): Promise<void> {
  let isOver = false;
  function* steps(messages: Message[]) {
    for (const message of messages) {
      isOver = (to !== null && message.position > to) || see(message) === false;
      if (isOver) return;
      yield;
    }
  }
  for (let after: number | null = (from ?? 0) - 1; after !== null && !isOver; ) {
    const page: Awaited<ReturnType<typeof readMessagesInTurn>> = await readMessagesInTurn(
      userId,
      traceId,
      after,
      bounds,
    );
    await inSlices(steps(page.messages));
    after = page.nextAfter;
  }
}

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

/** Counts a trace's messages before or after a position, by the primary key; the trace must be known to be live. */
export const countMessages = (userId: string, traceId: string, range: { before: number } | { after: number }) =>
  prisma().message.count({
    where: { userId, traceId, position: "before" in range ? { lt: range.before } : { gt: range.after } },
  });

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
