// What all processes count together. Each adds up what it sees and writes it down once a second, so that any of them can
// tell what all of them did: a worker has no port to be asked on, and a function of a serverless host no memory.
import "server-only";
import { pool, transaction } from "#lib/db/client";
import type { ErrorCode } from "#lib/errors";
import { log } from "#lib/log";

/** The shared figures, with what `/api/metrics` says of each. Those with `buckets` are histograms. */
const figures = {
  spoor_ingest_uploads_total: { help: "Uploads that were accepted." },
  spoor_ingest_bytes_total: { help: "Decoded bytes of the uploads that were accepted." },
  spoor_ingest_traces_total: { help: "Traces of processed uploads, by what became of them." },
  spoor_ingest_messages_written_total: { help: "Rows of messages written by jobs." },
  spoor_job_attempts_total: { help: "Ingest jobs' tries that ended, by how: succeeded, retried, failed." },
  spoor_job_duration_seconds: {
    help: "How long the tries of ingest jobs took.",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  },
  spoor_api_errors_total: { help: "Errors that the API answered with, by route and error code." },
  spoor_telemetry_forwards_total: { help: "Submissions of telemetry passed on to the sink, by what came of it." },
} satisfies Record<string, { help: string; buckets?: number[] }>;

type Name = keyof typeof figures;
type Labels = Readonly<Record<string, string | number>>;

/** One figure as the Prometheus client's registry takes it. */
export type Figure = {
  name: string;
  help: string;
  type: "counter" | "histogram";
  values: { metricName: string; labels: Labels; value: number }[];
};

const flushMs = 1000;

/** What was counted since it was last written down, by name and labels; the application's bundles share it. */
type Counts = { added: Map<string, number>; timer?: NodeJS.Timeout | undefined };
const globals = globalThis as typeof globalThis & { spoorCounts?: Counts };

function add(name: string, labels: Labels, by: number): void {
  if (by === 0) return;
  globals.spoorCounts ??= { added: new Map() };
  const counts = globals.spoorCounts;
  const key = `${name} ${JSON.stringify(labels)}`;
  counts.added.set(key, (counts.added.get(key) ?? 0) + by);
  counts.timer ??= setTimeout(() => {
    counts.timer = undefined;
    writeCounts().catch((error) => log.warn({ err: error }, "what was counted could not be written down yet"));
  }, flushMs).unref();
}

const count = (name: Name, labels: Labels = {}, by = 1) => add(name, labels, by);

function observe(name: "spoor_job_duration_seconds", seconds: number): void {
  for (const max of figures[name].buckets) if (seconds <= max) add(`${name}_bucket`, { le: max }, 1);
  add(`${name}_bucket`, { le: "+Inf" }, 1);
  add(`${name}_sum`, {}, seconds);
  add(`${name}_count`, {}, 1);
}

/** Counts an upload that was accepted. @param bytes decoded */
export function countUpload(bytes: number): void {
  count("spoor_ingest_uploads_total");
  count("spoor_ingest_bytes_total", {}, bytes);
}

/** Counts a try of a job that ended. */
export function countTry(outcome: "succeeded" | "retried" | "failed", seconds: number): void {
  count("spoor_job_attempts_total", { outcome });
  observe("spoor_job_duration_seconds", seconds);
}

/** Counts what a job did. */
export function countRows({
  written,
  ...traces
}: {
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
}): void {
  for (const [outcome, number] of Object.entries(traces)) count("spoor_ingest_traces_total", { outcome }, number);
  count("spoor_ingest_messages_written_total", {}, written);
}

/** Counts an error that a route answered with. @param route its pattern, never a path with ids */
export function countError(route: string, error: ErrorCode): void {
  count("spoor_api_errors_total", { route, error });
}

/** Counts what came of tries to pass submissions of telemetry on. */
export function countForward(outcome: "delivered" | "later" | "dropped" | "expired" | "disabled", number = 1): void {
  count("spoor_telemetry_forwards_total", { outcome }, number);
}

/** Writes down what this process counted. What could not be written is kept for the next time. */
export async function writeCounts(): Promise<void> {
  const counts = globals.spoorCounts;
  if (!counts || counts.added.size === 0) return;
  const added = counts.added;
  counts.added = new Map();
  // In one order for all processes, so that none waits for another that waits for it.
  const keys = [...added.keys()].sort();
  try {
    await transaction(
      async (tx) => {
        await tx.query(
          `insert into shared_count (name, labels, value) select * from unnest($1::text[], $2::text[], $3::float8[])
           on conflict (name, labels) do update set value = shared_count.value + excluded.value`,
          [keys.map((key) => key.split(" ", 1)[0]), keys.map(labelsOf), keys.map((key) => added.get(key))],
        );
      },
      { synchronous_commit: "off", lock_timeout: "1s" },
    );
  } catch (error) {
    for (const [key, value] of added) counts.added.set(key, (counts.added.get(key) ?? 0) + value);
    throw error;
  }
}

const labelsOf = (key: string) => key.slice(key.indexOf(" ") + 1);

/** What all processes counted, since the database was made. */
export async function readCounts(): Promise<Figure[]> {
  await writeCounts();
  const { rows } = await pool().query<{ name: string; labels: string; value: number }>(
    "select name, labels, value from shared_count order by name, labels",
  );
  return Object.entries(figures).map(([name, figure]) => ({
    name,
    help: figure.help,
    type: "buckets" in figure ? "histogram" : "counter",
    values: rows
      .filter((row) => row.name.replace(/_(?:bucket|sum|count)$/, "") === name)
      .map((row) => ({ metricName: row.name, labels: JSON.parse(row.labels), value: row.value })),
  }));
}
