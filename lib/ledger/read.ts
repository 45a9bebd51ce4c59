import "server-only";
import { setImmediate } from "node:timers/promises";
import type { PoolClient } from "pg";
import { readPacked } from "#lib/ledger/packed";
import type { LedgerMessage, LedgerPart, LedgerTrace, Reading } from "#lib/ledger/part";
import type { DueTrace } from "#lib/ledger/sql/due";
import { readFrom, readWhole } from "#lib/ledger/sql/messages";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

/** What is held in memory of messages at a time. */
const page = { rows: 1000, bytes: 2 * 1024 * 1024 };
/** How long the ledger keeps the process from other work, in milliseconds. */
const maxBusyMs = 10;
/** The highest position that a message can have, and a column that names one. */
const maxPosition = limits.message.integer;
/** How many messages are seen again at most for what is still open at a trace's end. */
const maxSeenAgain = 1000;

/** A trace that is read: `from` is the first position that the parts see. */
export type Wanted = { trace: LedgerTrace; due: DueTrace; from: number };

/** What the parts found, in their order, and up to which position the trace is accounted for. */
export type ReadTrace = Wanted & { found: Found[]; accountedTo: number };

/** Nothing where a part failed at a trace. */
type Found = { value: unknown } | undefined;

/** Gives way to others once in a while. */
export function makePauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxBusyMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

/** Shows the parts the messages of traces, each trace's in their order. */
export async function readTracesInto(
  tx: PoolClient,
  userId: string,
  wanted: Wanted[],
  parts: readonly LedgerPart<unknown>[],
): Promise<ReadTrace[]> {
  const pause = makePauses();
  const read: ReadTrace[] = [];
  for (const group of groupsOf(wanted)) {
    const readers = new Map(group.map((one) => [one.trace.id, new Reader(one, parts)]));
    if (group.every(isSmall)) {
      for (const { traceId, ...message } of await readWhole(tx, userId, [...readers.keys()], page.rows)) {
        readers.get(traceId)?.see(message);
        await pause();
      }
    } else {
      for (const reader of readers.values()) await readPages(tx, userId, reader, pause);
    }
    for (const reader of readers.values()) read.push(reader.result());
  }
  return read;
}

async function readPages(tx: PoolClient, userId: string, reader: Reader, pause: () => Promise<void> | undefined) {
  const { trace, from, due } = reader.wanted;
  if (due.isPacked) {
    let isThere = false;
    for await (const message of readPacked(tx, userId, trace.id)) {
      isThere = true;
      reader.see(message);
      await pause();
    }
    if (isThere) return; // else its rows are too large to be packed
  }
  for (let next = from; ; ) {
    const messages = await readFrom(tx, userId, trace.id, next, page);
    for (const message of messages) {
      reader.see(message);
      await pause();
    }
    const last = messages.at(-1);
    if (!last || last.position === maxPosition) return;
    next = last.position + 1;
  }
}

const isSmall = ({ due: { isPacked, messageCount, storedBytes }, from }: Wanted) =>
  from === 0 && !isPacked && messageCount <= page.rows && storedBytes !== null && storedBytes <= page.bytes;

/** Small traces together, as many as a page holds, and each other one alone. */
function groupsOf(wanted: Wanted[]): Wanted[][] {
  const groups: Wanted[][] = [];
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
  readonly wanted: Wanted;
  readonly #readings: (Reading<unknown> | undefined)[];
  /** The positions of the last messages, in a ring. */
  readonly #last: number[] = [];
  #seen = 0;
  #end: number;

  constructor(wanted: Wanted, parts: readonly LedgerPart<unknown>[]) {
    this.wanted = wanted;
    this.#end = wanted.from;
    this.#readings = parts.map((part) => this.#attempt(() => part.begin(wanted.trace, wanted.from)));
  }

  see(message: LedgerMessage): void {
    for (const [at, reading] of this.#readings.entries()) {
      if (!reading) continue;
      const went = this.#attempt(() => {
        reading.see(message);
        return true;
      });
      if (!went) this.#readings[at] = undefined;
    }
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

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      log.warn({ err: error, trace: this.wanted.trace.id }, "a part of the ledger could not read a session");
      return undefined;
    }
  }
}
