import "server-only";
import { limits } from "#lib/core/limits";
import { isWithin, type SharedRange, wholeRange } from "#lib/masking/for-others";
import { readEarlier, readMessages, readMessagesAt } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { hasTrace } from "#lib/traces/queries";
import type { ReaderMessage } from "#lib/transcript/message";
import type { SegmentRequest } from "./request";

/** The conversation view hides most messages, so it reads more. */
const sizes = { all: 100, talk: 300 };
/** Extra messages, to find rows that cross the edges. */
const margin = 12;
/** At least one message is read, cut at 8 MiB. */
const maxBytes = 1024 * 1024;
const { messagesPageBytes: maxMessageBytes } = limits.traces;
/** Smaller if only a few long messages were read. */
const getMargin = ({ length }: Message[]) => Math.min(margin, Math.floor(length / 4));
const shareAfter = 0.7;

/** `start` and `end` are inclusive indices; a neighbour or the trace's end fixes an edge. */
export type Read = {
  messages: (Message & Pick<ReaderMessage, "pictures">)[];
  start: number;
  end: number;
  /** Extends from here to both sides; otherwise from a fixed edge. */
  keep?: number;
  backwards?: boolean;
  fixed: { start: boolean; end: boolean };
  earlier: boolean;
  later: boolean;
};

/**
 * Neighbouring segments begin at each other's edge.
 *
 * @param range the only messages that exist for this reader
 * @returns undefined for a deleted or empty trace, or beyond its ends
 */
export async function readSegment(
  userId: string,
  traceId: string,
  request: SegmentRequest,
  talk: boolean,
  range: SharedRange = wholeRange,
): Promise<Read | undefined> {
  const size = talk ? sizes.talk : sizes.all;
  const stored: Source = {
    earlier: (before, limit) => readEarlier(userId, traceId, before, { limit, maxBytes, maxMessageBytes }),
    later: async (after, limit) => {
      const { messages, nextAfter } = await readMessages(userId, traceId, after, { limit, maxBytes, maxMessageBytes });
      return { messages, hasMore: nextAfter !== null };
    },
  };
  const source = sourceWithin(stored, range);
  const [read, isLive] = await Promise.all([readFor(source, request, size), hasTrace(userId, traceId)]);
  return isLive && read.messages.length > 0 ? read : undefined;
}

function sourceWithin(source: Source, { from, to }: SharedRange): Source {
  if (from === null && to === null) return source;
  const only = ({ messages, hasMore }: Page): Page => {
    const within = messages.filter(({ position }) => isWithin({ from, to }, position));
    return { messages: within, hasMore: hasMore && within.length === messages.length };
  };
  return {
    earlier: async (before, limit) =>
      only(await source.earlier(to === null ? before : Math.min(before, to + 1), limit)),
    later: async (after, limit) => only(await source.later(from === null ? after : Math.max(after, from - 1), limit)),
  };
}

export async function readRow(userId: string, traceId: string, positions: number[]): Promise<Message[] | undefined> {
  const [messages, isLive] = await Promise.all([readMessagesAt(userId, traceId, positions), hasTrace(userId, traceId)]);
  return isLive ? messages : undefined;
}

type Page = { messages: Message[]; hasMore: boolean };
type Source = Record<"earlier" | "later", (from: number, limit: number) => Promise<Page>>;

function readFor(source: Source, request: SegmentRequest, size: number): Promise<Read> {
  if ("before" in request) return readBefore(source, request.before, size);
  if ("at" in request) return readAround(source, request.at, size);
  return readAfter(source, request.after ?? -1, size);
}

async function readAfter(source: Source, position: number, size: number): Promise<Read> {
  const next = Math.min(position + 1, limits.message.integer);
  const [before, after] = await Promise.all([source.earlier(next, 1), source.later(position, size + margin)]);
  if (after.messages.length === 0) return { ...nothing, earlier: before.messages.length > 0 };
  const messages = [...before.messages, ...after.messages];
  const start = before.messages.length;
  const wanted = Math.min(start + size, messages.length - getMargin(after.messages)) - 1;
  const end = after.hasMore ? Math.max(start, wanted) : messages.length - 1;
  const fixed = { start: true, end: !after.hasMore };
  return { messages, start, end, fixed, earlier: start > 0, later: after.hasMore };
}

async function readBefore(source: Source, position: number, size: number): Promise<Read> {
  const [before, after] = await Promise.all([
    source.earlier(position, size + margin),
    source.later(position - 1, margin),
  ]);
  const end = before.messages.length - 1;
  const first = Math.max(getMargin(before.messages), before.messages.length - size);
  return {
    messages: before.messages.length > 0 ? [...before.messages, ...after.messages] : [],
    start: before.hasMore ? Math.min(first, end) : 0,
    end,
    backwards: true,
    fixed: { start: !before.hasMore, end: true },
    earlier: before.hasMore,
    later: after.messages.length > 0,
  };
}

async function readAround(source: Source, position: number, size: number): Promise<Read> {
  const wantedAfter = Math.round(size * shareAfter);
  const after = await source.later(position - 1, wantedAfter + margin);
  const before = await source.earlier(position, size - Math.min(after.messages.length, wantedAfter) + margin);
  if (after.messages.length === 0) return readBefore(source, position, size);
  const messages = [...before.messages, ...after.messages];
  const keep = before.messages.length;
  const last = messages.length - 1;
  return {
    messages,
    start: before.hasMore ? Math.min(getMargin(before.messages), keep) : 0,
    end: after.hasMore ? Math.max(keep, last - getMargin(after.messages)) : last,
    keep,
    fixed: { start: !before.hasMore, end: !after.hasMore },
    earlier: before.hasMore,
    later: after.hasMore,
  };
}

const nothing = { messages: [], start: 0, end: 0, fixed: { start: true, end: true }, earlier: false, later: false };
