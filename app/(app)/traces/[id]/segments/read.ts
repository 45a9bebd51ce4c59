import "server-only";
import type { ReaderRow } from "#lib/reader/message";
import { rowsOf } from "#lib/reader/rows";
import { readEarlier, readMessages, readMessagesAt } from "#lib/traces/messages";
import { hasTrace, type Message } from "#lib/traces/queries";
import { cutWindow, rowsWithin } from "./cut";
import type { WindowRequest } from "./request";

/** Messages of a window, in the whole view and in Talk, where most of them are hidden. */
const sizes = { all: 100, talk: 300 };
/** What is read over a window's edges, to see which rows reach over them. */
const margin = 12;
/** A window of long messages is shorter; one message comes however long it is. */
const maxBytes = 2 * 1024 * 1024;
/** The margin of what was read, which may be a few long messages. */
const marginOf = ({ length }: Message[]) => Math.min(margin, Math.floor(length / 4));
/** How much of a window round a position stands behind it, with the position itself. */
const partBehind = 0.7;

export type Window = {
  rows: ReaderRow[];
  first: number;
  last: number;
  /** How many messages it covers, empty ones as well. */
  count: number;
  /** Whether there is something before and behind it. */
  earlier: boolean;
  later: boolean;
};

/** Messages that were read, and which of them are wanted; an edge is fixed where an earlier window or the end chose it. */
type Read = {
  messages: Message[];
  start: number;
  end: number;
  keep?: number;
  fixed: { start: boolean; end: boolean };
  earlier: boolean;
  later: boolean;
};

/**
 * A window of a trace's messages as rows. Neighbouring windows share no message and leave none out, since each begins where
 * the other's edge was.
 *
 * @returns undefined where there is nothing: a deleted or empty trace, or beyond its ends.
 */
export async function readWindow(
  userId: string,
  traceId: string,
  request: WindowRequest,
  talk: boolean,
): Promise<Window | undefined> {
  const size = talk ? sizes.talk : sizes.all;
  const source: Source = {
    earlier: (before, limit) => readEarlier(userId, traceId, before, { limit, maxBytes }),
    later: async (after, limit) => {
      const { messages, nextAfter } = await readMessages(userId, traceId, after, { limit, maxBytes });
      return { messages, hasMore: nextAfter !== null };
    },
  };
  const [read, isThere] = await Promise.all([readFor(source, request, size), hasTrace(userId, traceId)]);
  return isThere && read.messages.length > 0 ? cut(read) : undefined;
}

/**
 * The row at a position, made of the messages at `positions`.
 *
 * @returns undefined where there is none, or where the trace was deleted.
 */
export async function readRow(
  userId: string,
  traceId: string,
  { position, positions }: { position: number; positions: number[] },
): Promise<ReaderRow | undefined> {
  const [messages, isThere] = await Promise.all([
    readMessagesAt(userId, traceId, positions),
    hasTrace(userId, traceId),
  ]);
  return isThere ? rowsOf(messages).find((row) => row.position === position) : undefined;
}

type Page = { messages: Message[]; hasMore: boolean };
type Source = Record<"earlier" | "later", (from: number, limit: number) => Promise<Page>>;

function readFor(source: Source, request: WindowRequest, size: number): Promise<Read> {
  if ("from" in request) return readRange(source, request, size);
  if ("before" in request) return readBefore(source, request.before, size);
  if ("at" in request) return readRound(source, request.at, size);
  return readBehind(source, request.after ?? -1, size);
}

async function readBehind(source: Source, after: number, size: number): Promise<Read> {
  const [before, behind] = await Promise.all([source.earlier(after + 1, 1), source.later(after, size + margin)]);
  if (behind.messages.length === 0) return { ...nothing, earlier: before.messages.length > 0 };
  const messages = [...before.messages, ...behind.messages];
  const start = before.messages.length;
  const wanted = Math.min(start + size, messages.length - marginOf(behind.messages)) - 1;
  const end = behind.hasMore ? Math.max(start, wanted) : messages.length - 1;
  const fixed = { start: true, end: !behind.hasMore };
  return { messages, start, end, fixed, earlier: start > 0, later: behind.hasMore };
}

async function readBefore(source: Source, position: number, size: number): Promise<Read> {
  const [before, behind] = await Promise.all([
    source.earlier(position, size + margin),
    source.later(position - 1, margin),
  ]);
  const end = before.messages.length - 1;
  const min = marginOf(before.messages);
  const start = before.hasMore ? Math.min(Math.max(min, before.messages.length - size), end) : 0;
  return {
    messages: before.messages.length > 0 ? [...before.messages, ...behind.messages] : [],
    start,
    end,
    fixed: { start: !before.hasMore, end: true },
    earlier: before.hasMore,
    later: behind.messages.length > 0,
  };
}

async function readRound(source: Source, position: number, size: number): Promise<Read> {
  const wantedBehind = Math.round(size * partBehind);
  const behind = await source.later(position - 1, wantedBehind + margin);
  // Near the end there are fewer behind it, and the window takes more before it.
  const before = await source.earlier(position, size - Math.min(behind.messages.length, wantedBehind) + margin);
  if (behind.messages.length === 0) return readBefore(source, position, size);
  const messages = [...before.messages, ...behind.messages];
  const keep = before.messages.length;
  const last = messages.length - 1;
  return {
    messages,
    start: before.hasMore ? Math.min(marginOf(before.messages), keep) : 0,
    end: behind.hasMore ? Math.max(keep, last - marginOf(behind.messages)) : last,
    keep,
    fixed: { start: !before.hasMore, end: !behind.hasMore },
    earlier: before.hasMore,
    later: behind.hasMore,
  };
}

async function readRange(source: Source, { from, to }: { from: number; to: number }, size: number): Promise<Read> {
  const [before, behind] = await Promise.all([source.earlier(from, 1), source.later(from - 1, size + 2 * margin)]);
  const count = behind.messages.filter(({ position }) => position <= to).length;
  const start = before.messages.length;
  const later = behind.hasMore || count < behind.messages.length;
  if (count === 0) return { ...nothing, earlier: start > 0, later };
  const messages = [...before.messages, ...behind.messages];
  return { messages, start, end: start + count - 1, fixed: { start: true, end: true }, earlier: start > 0, later };
}

const nothing = { messages: [], start: 0, end: 0, fixed: { start: true, end: true }, earlier: false, later: false };

/** Takes the margins off where no row is parted. A row that is parted all the same is made anew from what is left of it. */
function cut({ messages, start, end, keep, fixed, earlier, later }: Read): Window {
  const rows = rowsOf(messages);
  const wanted = { start, end, ...(keep !== undefined && { keep }) };
  const span = cutWindow(
    messages.map(({ position }) => position),
    rows,
    wanted,
    fixed,
  );
  const shown = messages.slice(span.start, span.end + 1);
  const first = shown[0]?.position ?? 0;
  const last = shown.at(-1)?.position ?? 0;
  return {
    rows: rowsWithin(rows, first, last) ?? rowsOf(shown),
    first,
    last,
    count: shown.length,
    earlier: earlier || span.start > 0,
    later: later || span.end < messages.length - 1,
  };
}
