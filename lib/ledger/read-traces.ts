import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices, StepEnded } from "#lib/core/concurrency/slices";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import type { LedgerMessage, LedgerPart, LedgerTrace, TraceReader } from "#lib/ledger/part";
import type { DueTrace } from "#lib/ledger/sql/due";
import { readFrom, readWhole } from "#lib/ledger/sql/messages";

const page = { rows: 1000, bytes: 2 * 1024 * 1024 };
const maxPosition = limits.message.integer;
const maxSeenAgain = 1000;
/** Limit for starting another trace of the same user, so that other users are not delayed. */
const turnMs = 5000;
/** Several times what the longest messages need. */
const allowedMs = { inAll: 10_000, perMessage: 2 };

/** `from` is the first position that the parts see. */
export type WantedTrace = { trace: LedgerTrace; due: DueTrace; from: number };

export type ReadTrace = WantedTrace & { found: PartResult[]; accountedTo: number };

/** Undefined if the part failed on this trace. */
type PartResult = { value: unknown } | undefined;

/**
 * @returns the first traces, as many as a few seconds allow
 * @throws SpoorError `overloaded` if reading takes much longer than the number of messages explains
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

type TraceMessage = LedgerMessage & { traceId: string };
type Show = (messages: TraceMessage[]) => Promise<void>;

function makeShow(readers: Map<string, Reader>): Show {
  let leftMs = allowedMs.inAll;
  return async (messages) => {
    leftMs += messages.length * allowedMs.perMessage;
    let next = 0;
    const see = (message: TraceMessage) => {
      readers.get(message.traceId)?.see(message);
      next += 1;
    };
    while (next < messages.length) {
      try {
        leftMs -= await eachInSlices(messages.slice(next), see, leftMs);
      } catch (error) {
        // A partial result would be final; an interrupted trace is read again.
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

/** A part that throws is left out, so that the others can still write. */
class Reader {
  readonly wanted: WantedTrace;
  readonly #readings: (TraceReader<unknown> | undefined)[];
  #part = 0;
  readonly #last: number[] = [];
  #seen = 0;
  #end: number;

  constructor(wanted: WantedTrace, parts: readonly LedgerPart<unknown>[]) {
    this.wanted = wanted;
    this.#end = wanted.from;
    this.#readings = parts.map((part) => this.#attempt(() => part.begin(wanted.trace, wanted.from)));
  }

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
    this.#end = Math.min(message.position + 1, maxPosition); // a message at the maximum position is read again whenever its trace grows
  }

  result(): ReadTrace {
    // Asks the parts twice, because an earlier start for one may split what another reads as a whole.
    const earliest = this.#openFrom(this.#openFrom(this.#end));
    const floor = this.#seen > maxSeenAgain ? (this.#last[this.#seen % maxSeenAgain] ?? 0) : 0;
    const found = this.#readings.map((reading) => reading && this.#attempt(() => ({ value: reading.found() })));
    return { ...this.wanted, found, accountedTo: Math.max(earliest, floor) };
  }

  #openFrom(position: number): number {
    const open = this.#readings.map((reading) => reading && this.#attempt(() => reading.openFrom?.(position)));
    return Math.min(position, ...open.filter((one) => one !== undefined));
  }

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
