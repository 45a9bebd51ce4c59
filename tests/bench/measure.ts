import { makeBody, makeTraces } from "./corpus.ts";
import type { makeFloorB } from "./floors.ts";
import type { Spoor } from "./spoor.ts";

/** A printed row of the bench. */
export type Row = {
  name: string;
  what: string;
  measured: string;
  compared: string;
  ratio: number;
  must: string;
  met: boolean;
};

/** What every measurement is given. */
export type Context = { spoor: Spoor; texts: string[]; floorB: Awaited<ReturnType<typeof makeFloorB>> };

/** The standard batch: 1000 traces of 20 messages, about 18 MB of real text. */
export const [traceCount, messagesEach] = [1000, 20];
/** The number of rounds of which each figure is the median, after one round to warm up. */
export const rounds = 15;
export const MiB = 2 ** 20;

/**
 * Collects this process's garbage. It shares the CPU with what it measures: of two servers that get the same body, the first
 * would wait for the garbage of building it.
 */
export function collectGarbage(): void {
  if (!globalThis.gc) throw new Error("The bench needs node --expose-gc.");
  globalThis.gc();
}

/** The time of a body from its first byte to its committed rows, in milliseconds. */
export async function timeToRows(spoor: Spoor, body: Buffer): Promise<number> {
  collectGarbage();
  const startedAt = performance.now();
  const { jobId } = await spoor.send(body);
  await spoor.end(jobId);
  return performance.now() - startedAt;
}

let serial = 0;
/** A unique key for a batch. */
export const key = () => `${process.pid}-${++serial}`;
export const batch = ({ texts }: Context) => makeTraces(texts, key(), traceCount, messagesEach);
export const smallBody = ({ texts }: Context) => makeBody(makeTraces(texts, key(), 1, 10));

export const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
/** A percentile by nearest rank: the least value that the given share of values does not exceed. */
export const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

export const showMs = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const showRate = (value: number) => `${Math.round(value)} messages/s`;

type Bound = { max: number } | { min: number };

/** A row that compares a figure with another of the same run. */
export function ratioRow(
  name: string,
  what: string,
  [own, floor]: [number, number],
  show: (value: number) => string,
  bound: Bound,
): Row {
  const ratio = own / floor;
  const met = "max" in bound ? ratio <= bound.max : ratio >= bound.min;
  const must = "max" in bound ? `≤ ${bound.max} ×` : `≥ ${bound.min} ×`;
  return { name, what, measured: show(own), compared: show(floor), ratio, must, met };
}

/** A row with a fixed bound; its ratio is figure to bound. */
export function boundRow(
  name: string,
  what: string,
  value: number,
  max: number,
  show: (value: number) => string,
  compared = "–",
): Row {
  return {
    name,
    what,
    measured: show(value),
    compared,
    ratio: value / max,
    must: `≤ ${show(max)}`,
    met: value <= max,
  };
}

/**
 * Retries when the server answers 503, as a client does, and once when the connection is closed: the server may have closed
 * an idle one while this process built bodies.
 */
export async function sendPatiently(spoor: Spoor, body: Buffer<ArrayBuffer>): Promise<void> {
  const send = () => fetch(`${spoor.url}/api/ingest`, { method: "POST", headers: spoor.headers, body });
  for (;;) {
    const response = await send().catch(send);
    await response.text();
    if (response.status === 202) return;
    if (response.status !== 503) throw new Error(`ingest answered ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Four clients send batches for some seconds. @returns messages per second until the queue is empty */
export async function sustain(context: Context, seconds: number): Promise<number> {
  const startedAt = performance.now();
  let batches = 0;
  const client = async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      await sendPatiently(context.spoor, makeBody(batch(context)));
      batches += 1;
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  await context.spoor.drained();
  return (batches * traceCount * messagesEach * 1000) / (performance.now() - startedAt);
}
