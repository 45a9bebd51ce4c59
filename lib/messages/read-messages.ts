import "server-only";
import { inSlices } from "#lib/core/concurrency/slices";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import type { SharedRange } from "#lib/masking/for-others";
import type { Message } from "#lib/messages/schema";
import { type MessageRow, readAt, readPage } from "#lib/messages/sql";

/** A page ends at the first bound. It has at least one message; of one over `maxMessageBytes` only the start. */
type PageBounds = { limit: number; maxBytes?: number; maxMessageBytes?: number };

const { messagesPageBytes } = limits.traces;

/**
 * @param after -1 for the first message
 * @returns `nextAfter`: the next page's `after`, null after the last message
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

const readMessagesInTurn = (
  userId: string,
  traceId: string,
  after: number,
  bounds: PageBounds,
): ReturnType<typeof readMessages> => heavyTurn(userId, () => readMessages(userId, traceId, after, bounds), "wait");

/** @param see returns false to stop */
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

export async function readEarlier(
  userId: string,
  traceId: string,
  before: number,
  { limit, maxBytes = messagesPageBytes, maxMessageBytes }: PageBounds,
): Promise<{ messages: Message[]; hasMore: boolean }> {
  const rows = await readPage(userId, traceId, "before", before, { limit, maxBytes, maxMessageBytes });
  return { messages: rows.map(presentMessage), hasMore: rows[0]?.hasMore ?? false };
}

/** Bounded by a page's bytes. */
export async function readMessagesAt(userId: string, traceId: string, positions: number[]): Promise<Message[]> {
  return (await readAt(userId, traceId, positions, messagesPageBytes)).map(presentMessage);
}

export const countMessages = (userId: string, traceId: string, range: { before: number } | { after: number }) =>
  prisma().message.count({
    where: { userId, traceId, position: "before" in range ? { lt: range.before } : { gt: range.after } },
  });

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
