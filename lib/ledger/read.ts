import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices, StepEnded } from "#lib/concurrency/slices";
import type { LedgerMessage, LedgerPart, LedgerTrace, TraceReader } from "#lib/ledger/part";
import type { DueTrace } from "#lib/ledger/sql/due";
import { readFrom, readWhole } from "#lib/ledger/sql/messages";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

/** What is held in memory of messages at a time. */
const page = { rows: 1000, bytes: 2 * 1024 * 1024 };
/** The highest position that a message can have, and a column that names one. */
const maxPosition = limits.message.integer;
/** How many messages are seen again at most for what is still open at a trace's end. */
const maxSeenAgain = 1000;
/** Time limit in milliseconds for beginning another trace; then other users have their turn. */
const turnMs = 5000;
/** Time limits of reading, in milliseconds: several times what the longest messages need. */
const allowedMs = { inAll: 10_000, perMessage: 2 };

/** A trace that is read: `from` is the first position that the parts see. */
export type WantedTrace = { trace: LedgerTrace; due: DueTrace; from: number };

/** What the parts found, in their order, and up to which position the trace is accounted for. */
export type ReadTrace = WantedTrace & { found: PartResult[]; accountedTo: number };

/** Nothing where a part failed at a trace. */
type PartResult = { value: unknown } | undefined;

/**
 * Shows the parts the messages of traces, each trace's in their order.
 *
 * @returns the first of the traces, as many as could be read in some seconds
 * @throws SpoorError `overloaded` where reading takes much longer than the number of messages explains
 */
export async function readTracesInto(
  tx: PoolClient,
  userId: string,
  wanted: WantedTrace[],
  parts: readonly LedgerPart<unknown>[],
): Promise<ReadTrace[]> {
  const read: ReadTrace[] = [];
  const startedAt = performance.now();
  for (const group of groupBySize(wanted)) {
    if (read.length > 0 && performance.now() - startedAt > turnMs) break;
    const readers = new Map(group.map((one) => [one.trace.id, new Reader(one, parts)]));
    const show = makeShow(readers);
    if (group.every(isSmall)) await show(await readWhole(tx, userId, [...readers.keys()], page.rows));
    else for (const { wanted } of readers.values()) await showPages(tx, userId, wanted, show);
    await eachInSlices(readers.values(), (reader) => read.push(reader.result()));
  }
  return read;
}

type Shown = LedgerMessage & { traceId: string };
type Show = (messages: Shown[]) => Promise<void>;

/** A function that shows messages to their traces' readers. */
function makeShow(readers: Map<string, Reader>): Show {
  let leftMs = allowedMs.inAll;
  return async (messages) => {
    leftMs += messages.length * allowedMs.perMessage;
    let next = 0;
    const see = (message: Shown) => {
      readers.get(message.traceId)?.see(message);
      next += 1;
    };
    while (next < messages.length) {
      try {
        leftMs -= await eachInSlices(messages.slice(next), see, leftMs);
      } catch (error) {
        // What was read halfway for no fault of its own is read again later: nothing of it may be missing for ever.
        if (!(error instanceof StepEnded) || error.isStarved) throw error;
        leftMs -= error.spentMs;
        readers.get(messages[next]?.traceId ?? "")?.leaveOut(error);
      }
    }
  };
}

async function showPages(tx: PoolClient, userId: string, { trace, from }: WantedTrace, show: Show): Promise<void> {
  const traceId = trace.id;
  for (let next = from; ; ) {
    const messages = await readFrom(tx, userId, traceId, next, page);
    await show(messages.map((message) => ({ traceId, ...message })));
    const last = messages.at(-1);
    if (!last || last.position === maxPosition) return;
    next = last.position + 1;
  }
}

const isSmall = ({ due: { messageCount, storedBytes }, from }: WantedTrace) =>
  from === 0 && messageCount <= page.rows && storedBytes !== null && storedBytes <= page.bytes;

/** Small traces together, as many as a page holds, and each other one alone. */
function groupBySize(wanted: WantedTrace[]): WantedTrace[][] {
  const groups: WantedTrace[][] = [];
  let [rows, bytes] = [Number.POSITIVE_INFINITY, 0];
  for (const one of wanted) {
    const { messageCount, storedBytes } = one.due;
    if (!isSmall(one)) {
      groups.push([one]);
      rows = Number.POSITIVE_INFINITY;
      continue;
    }
    rows += messageCount;
    bytes += storedBytes ?? 0;
    if (rows > page.rows || bytes > page.bytes) {
      groups.push([]);
      [rows, bytes] = [messageCount, storedBytes ?? 0];
    }
    groups.at(-1)?.push(one);
  }
  return groups;
}

/** Shows one trace to all parts. One that throws is left out of this trace: the others' rows don't wait for its mending. */
class Reader {
  readonly wanted: WantedTrace;
  readonly #readings: (TraceReader<unknown> | undefined)[];
  /** The part that sees a message now. */
  #part = 0;
  /** The positions of the last messages, in a ring. */
  readonly #last: number[] = [];
  #seen = 0;
  #end: number;

  constructor(wanted: WantedTrace, parts: readonly LedgerPart<unknown>[]) {
    this.wanted = wanted;
    this.#end = wanted.from;
    this.#readings = parts.map((part) => this.#attempt(() => part.begin(wanted.trace, wanted.from)));
  }

  /** Shows a message to each part, or to the rest of them, where one was left out at it. */
  see(message: LedgerMessage): void {
    for (; this.#part < this.#readings.length; this.#part += 1) {
      const reading = this.#readings[this.#part];
      try {
        reading?.see(message);
      } catch (error) {
        this.leaveOut(error);
      }
    }
    this.#part = 0;
    this.#last[this.#seen % maxSeenAgain] = message.position;
    this.#seen += 1;
    this.#end = Math.min(message.position + 1, maxPosition); // one there is seen again whenever its trace grows
  }

  result(): ReadTrace {
    // Twice: what is open for one part may be in the middle of what belongs together for another.
    const earliest = this.#openFrom(this.#openFrom(this.#end));
    const floor = this.#seen > maxSeenAgain ? (this.#last[this.#seen % maxSeenAgain] ?? 0) : 0;
    const found = this.#readings.map((reading) => reading && this.#attempt(() => ({ value: reading.found() })));
    return { ...this.wanted, found, accountedTo: Math.max(earliest, floor) };
  }

  #openFrom(position: number): number {
    const open = this.#readings.map((reading) => reading && this.#attempt(() => reading.openFrom?.(position)));
    return Math.min(position, ...open.filter((one) => one !== undefined));
  }

  /** Leaves the part out that sees a message now. */
  leaveOut(error: unknown): void {
    this.#readings[this.#part] = undefined;
    this.#warn(error);
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  #warn(error: unknown): void {
    log.warn({ err: error, trace: this.wanted.trace.id }, "a part of the ledger could not read a session");
  }
}
