// Counts are in the database, because a worker has no port to scrape, and a serverless function keeps no memory.
import "server-only";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import type { ErrorCode } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { addToCounters } from "#lib/observability/sql";

/** Metrics with `buckets` are histograms. */
const metrics = {
  spoor_ingest_uploads_total: { help: "Accepted uploads." },
  spoor_ingest_bytes_total: { help: "Decoded bytes of accepted uploads." },
  spoor_ingest_traces_total: { help: "Traces of processed uploads, by outcome." },
  spoor_ingest_messages_written_total: { help: "Message rows written by jobs." },
  spoor_job_attempts_total: { help: "Finished attempts of ingest jobs, by outcome: succeeded, retried, failed." },
  spoor_job_duration_seconds: {
    help: "Duration of ingest jobs' attempts.",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  },
  spoor_api_errors_total: { help: "Errors answered by the API, by route and error code." },
  spoor_originals_parts_total: { help: "Stored parts of exact copies." },
  spoor_originals_bytes_total: { help: "Bytes of stored parts of exact copies." },
  spoor_originals_manifests_total: { help: "Exact copies that were stored or replaced." },
  spoor_telemetry_forwards_total: { help: "Telemetry reports forwarded to the sink, by outcome." },
} satisfies Record<string, { help: string; buckets?: number[] }>;

type Name = keyof typeof metrics;
type Labels = Readonly<Record<string, string | number>>;

export type StoredMetric = {
  name: string;
  help: string;
  type: "counter" | "histogram";
  values: { metricName: string; labels: Labels; value: number }[];
};

const flushMs = 1000;

/** The application's bundles share the counts that are not yet written. */
type Counts = { added: Map<string, number>; timer?: NodeJS.Timeout | undefined };
const counts = oncePerProcess("counts", (): Counts => ({ added: new Map() }));

function add(name: string, labels: Labels, by: number): void {
  if (by === 0) return;
  const key = `${name} ${JSON.stringify(labels)}`;
  counts.added.set(key, (counts.added.get(key) ?? 0) + by);
  counts.timer ??= setTimeout(() => {
    counts.timer = undefined;
    writeCounts().catch((error) => log.warn({ err: error }, "counters could not be written; they are written later"));
  }, flushMs).unref();
}

const count = (name: Name, labels: Labels = {}, by = 1) => add(name, labels, by);

function observe(name: "spoor_job_duration_seconds", seconds: number): void {
  for (const max of metrics[name].buckets) if (seconds <= max) add(`${name}_bucket`, { le: max }, 1);
  add(`${name}_bucket`, { le: "+Inf" }, 1);
  add(`${name}_sum`, {}, seconds);
  add(`${name}_count`, {}, 1);
}

/** @param bytes decoded */
export function countUpload(bytes: number): void {
  count("spoor_ingest_uploads_total");
  count("spoor_ingest_bytes_total", {}, bytes);
}

export function countAttempt(outcome: "succeeded" | "retried" | "failed", seconds: number): void {
  count("spoor_job_attempts_total", { outcome });
  observe("spoor_job_duration_seconds", seconds);
}

export function countRows({
  written,
  ...traces
}: {
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  incomplete: number;
  written: number;
}): void {
  for (const [outcome, number] of Object.entries(traces)) count("spoor_ingest_traces_total", { outcome }, number);
  count("spoor_ingest_messages_written_total", {}, written);
}

export function countPart(bytes: number): void {
  count("spoor_originals_parts_total");
  count("spoor_originals_bytes_total", {}, bytes);
}

export const countManifest = (): void => count("spoor_originals_manifests_total");

/** @param route its pattern, never a path with ids */
export function countError(route: string, error: ErrorCode): void {
  count("spoor_api_errors_total", { route, error });
}

export function countForward(outcome: "delivered" | "later" | "dropped" | "expired" | "disabled", number = 1): void {
  count("spoor_telemetry_forwards_total", { outcome }, number);
}

/** Writes this process's counts; if that fails, they are kept for the next time. */
export async function writeCounts(): Promise<void> {
  if (counts.added.size === 0) return;
  const added = counts.added;
  counts.added = new Map();
  try {
    // Sorted, so that all processes lock the rows in the same order.
    await addToCounters([...added].sort(([a], [b]) => (a < b ? -1 : 1)).map(toRow));
  } catch (error) {
    for (const [key, value] of added) counts.added.set(key, (counts.added.get(key) ?? 0) + value);
    throw error;
  }
}

function toRow([key, value]: [key: string, value: number]) {
  const space = key.indexOf(" ");
  return { name: key.slice(0, space), labels: key.slice(space + 1), value };
}

export async function readCounts(): Promise<StoredMetric[]> {
  await writeCounts();
  const rows = await prisma().sharedCount.findMany({ orderBy: [{ name: "asc" }, { labels: "asc" }] });
  return Object.entries(metrics).map(([name, metric]) => ({
    name,
    help: metric.help,
    type: "buckets" in metric ? "histogram" : "counter",
    values: rows
      .filter((row) => row.name.replace(/_(?:bucket|sum|count)$/, "") === name)
      .map((row) => ({ metricName: row.name, labels: JSON.parse(row.labels), value: row.value })),
  }));
}
