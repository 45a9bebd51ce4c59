// What `GET /api/metrics` answers, in Prometheus's text format.
import "server-only";
import { Gauge, type Metric, Registry } from "prom-client";
import { pool } from "#lib/db/client";
import { isOutage } from "#lib/errors";
import { readCounts } from "#lib/observability/metrics";
import { processRegistry } from "#lib/observability/registry";

/** How long an answer of the database's is told again, in milliseconds: scrapes may come from several places at once. */
const freshMs = 5000;
/** How many open jobs, or waiting submissions, are looked at: beyond it the figures stand still, and a scrape stays cheap. */
const maxOpen = 100_000;

/** What the database knows, of all processes. */
type Shared = { open: Map<string, { jobs: number; oldestSeconds: number }>; workers: number; outbox: number };

let known: { at: number; text: Promise<string> } | undefined;

/**
 * The figures of this process, and those of all of them.
 *
 * @returns this process's alone, with `spoor_database_up 0`, while the database does not answer.
 */
export async function renderFigures(): Promise<string> {
  const own = await processRegistry().metrics();
  return [own, await renderPool(), await shared()].join("\n");
}

function shared(): Promise<string> {
  if (known && performance.now() - known.at < freshMs) return known.text;
  const text = renderShared().catch((error) => {
    if (!isOutage(error)) throw error;
    return renderDatabaseUp(0);
  });
  const asked = { at: performance.now(), text };
  known = asked;
  text.catch(() => {
    if (known === asked) known = undefined;
  });
  return text;
}

async function renderShared(): Promise<string> {
  const [{ open, workers, outbox }, counts] = await Promise.all([readShared(), readCounts()]);
  const registry = new Registry();
  const jobs = gauge(registry, "spoor_jobs_open", "Ingest jobs that wait or run.", ["status"]);
  const age = gauge(registry, "spoor_jobs_oldest_seconds", "How long ago the oldest of them was accepted.", ["status"]);
  for (const status of ["queued", "running"]) {
    const found = open.get(status);
    jobs.set({ status }, found?.jobs ?? 0);
    age.set({ status }, found?.oldestSeconds ?? 0);
  }
  gauge(registry, "spoor_workers", "Workers seen in the last 60 seconds.").set(workers);
  gauge(registry, "spoor_telemetry_outbox", "Submissions of telemetry that are still to be passed on.").set(outbox);
  // A counter of the library's counts by itself; these have been counted.
  for (const figure of counts) registry.registerMetric({ ...figure, get: () => figure } as unknown as Metric);
  return [await registry.metrics(), await renderDatabaseUp(1)].join("\n");
}

async function readShared(): Promise<Shared> {
  const { rows } = await pool().query<{ status: string; jobs: number; oldest: number }>(
    `select status, count(*)::int as jobs, extract(epoch from now() - min(created_at))::float8 as oldest
     from (select status, created_at from ingest_job
           where status <> 'succeeded' and status in ('queued', 'running') limit $1) as open
     group by status`,
    [maxOpen],
  );
  const { rows: others } = await pool().query<{ workers: number; outbox: number }>(
    `select (select count(*)::int from process_heartbeat
             where role = 'worker' and seen_at > now() - interval '60 seconds') as workers,
       (select count(*)::int from (select 1 from forward_outbox limit $1) as waiting) as outbox`,
    [maxOpen],
  );
  const open = new Map(rows.map(({ status, jobs, oldest }) => [status, { jobs, oldestSeconds: oldest }]));
  return { open, workers: others[0]?.workers ?? 0, outbox: others[0]?.outbox ?? 0 };
}

function renderDatabaseUp(up: 0 | 1): Promise<string> {
  const registry = new Registry();
  gauge(registry, "spoor_database_up", "Whether the database answered this scrape.").set(up);
  return registry.metrics();
}

/** This process's connections. */
function renderPool(): Promise<string> {
  const registry = new Registry();
  const { totalCount, idleCount, waitingCount } = pool();
  const connections = gauge(registry, "spoor_pool_connections", "Connections of this process to the database.", [
    "state",
  ]);
  connections.set({ state: "used" }, totalCount - idleCount);
  connections.set({ state: "idle" }, idleCount);
  gauge(registry, "spoor_pool_waiting", "Calls of this process that wait for a connection.").set(waitingCount);
  return registry.metrics();
}

const gauge = (registry: Registry, name: string, help: string, labelNames: string[] = []) =>
  new Gauge({ name, help, labelNames, registers: [registry] });
