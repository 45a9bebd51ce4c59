import "server-only";
import { Gauge, type Metric, Registry } from "prom-client";
import { isOutage } from "#lib/core/errors";
import { pool, prisma } from "#lib/db/client";
import { readCounts } from "#lib/observability/counters";
import { processRegistry } from "#lib/observability/registry";
import { countOpenJobs, countWorkers } from "#lib/observability/sql";

/** Several servers may scrape at once. */
const cacheMs = 5000;
/** Counting stops here, so that a scrape stays cheap. */
const maxCounted = 100_000;

let cached: { at: number; text: Promise<string> } | undefined;

/**
 * Reports this process's metrics and the shared ones; without a database only the former, with `spoor_database_up 0`.
 */
export async function renderMetrics(): Promise<string> {
  const own = await processRegistry().metrics();
  return [own, await renderPool(), await readCached()].join("\n");
}

function readCached(): Promise<string> {
  if (cached && performance.now() - cached.at < cacheMs) return cached.text;
  const text = renderShared().catch((error) => {
    if (!isOutage(error)) throw error;
    return renderDatabaseUp(0);
  });
  const entry = { at: performance.now(), text };
  cached = entry;
  text.catch(() => {
    if (cached === entry) cached = undefined;
  });
  return text;
}

async function renderShared(): Promise<string> {
  const [open, workers, outbox, counts] = await Promise.all([
    countOpenJobs(maxCounted),
    countWorkers(60),
    prisma().forwardOutbox.count({ take: maxCounted }),
    readCounts(),
  ]);
  const registry = new Registry();
  const jobs = gauge(registry, "spoor_jobs_open", "Ingest jobs that are queued or running.", ["status"]);
  const age = gauge(
    registry,
    "spoor_jobs_oldest_seconds",
    "Age of the oldest open ingest job, since it was accepted.",
    ["status"],
  );
  for (const status of ["queued", "running"]) {
    const found = open.find((row) => row.status === status);
    jobs.set({ status }, found?.jobs ?? 0);
    age.set({ status }, found?.oldestSeconds ?? 0);
  }
  gauge(registry, "spoor_workers", "Workers seen in the last 60 seconds.").set(workers);
  gauge(registry, "spoor_telemetry_outbox", "Telemetry reports waiting to be forwarded.").set(outbox);
  // The library's counters start at 0; these are read from the database.
  for (const metric of counts) registry.registerMetric({ ...metric, get: () => metric } as unknown as Metric);
  return [await registry.metrics(), await renderDatabaseUp(1)].join("\n");
}

function renderDatabaseUp(up: 0 | 1): Promise<string> {
  const registry = new Registry();
  gauge(registry, "spoor_database_up", "1 if the database answered this scrape, else 0.").set(up);
  return registry.metrics();
}

function renderPool(): Promise<string> {
  const registry = new Registry();
  const { totalCount, idleCount, waitingCount } = pool();
  const connections = gauge(registry, "spoor_pool_connections", "This process's database connections.", ["state"]);
  connections.set({ state: "used" }, totalCount - idleCount);
  connections.set({ state: "idle" }, idleCount);
  gauge(registry, "spoor_pool_waiting", "Calls of this process waiting for a connection.").set(waitingCount);
  return registry.metrics();
}

const gauge = (registry: Registry, name: string, help: string, labelNames: string[] = []) =>
  new Gauge({ name, help, labelNames, registers: [registry] });
