import "server-only";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { env } from "#lib/env";

const connections = oncePerProcess("connections of the queue", (): { left?: number } => ({}));

/** A job holds at most two connections, and must never wait for one that another job holds. */
const perJob = 2;
/** One job's, and one for what runs beside it. */
const least = perJob + 1;
const defaults = { web: 10, workerWithoutJobs: 8 };

/** Leaves some of this process's connections to the queue of a worker. Before the pool is made. */
export function leaveConnections(count: number): void {
  connections.left = count;
}

/** How many connections the pool of this process may have. */
export function poolSize(): number {
  const { DATABASE_POOL_MAX, WORKER_CONCURRENCY } = env();
  const { left } = connections;
  const byDefault = left === undefined ? defaults.web : defaults.workerWithoutJobs + perJob * WORKER_CONCURRENCY;
  return Math.max(least, (DATABASE_POOL_MAX ?? byDefault) - (left ?? 0));
}

/** How many jobs this process may run at a time: `WORKER_CONCURRENCY`, if it has the connections for them. */
export function jobsAtOnce(): number {
  return Math.min(env().WORKER_CONCURRENCY, Math.floor((poolSize() - 1) / perJob));
}
