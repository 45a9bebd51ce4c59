import "server-only";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";

const connections = oncePerProcess("connections of the queue", (): { left?: number } => ({}));

/** A job must never wait for a connection that another job holds. */
const perJob = 2;
const least = perJob + 1;
const defaults = { web: 10, workerWithoutJobs: 8 };

/** Call it before the pool is made. */
export function leaveConnections(count: number): void {
  connections.left = count;
}

export function poolSize(): number {
  const { DATABASE_POOL_MAX, WORKER_CONCURRENCY } = env();
  const { left } = connections;
  const byDefault = left === undefined ? defaults.web : defaults.workerWithoutJobs + perJob * WORKER_CONCURRENCY;
  return Math.max(least, (DATABASE_POOL_MAX ?? byDefault) - (left ?? 0));
}

export function jobsAtOnce(): number {
  return Math.min(env().WORKER_CONCURRENCY, Math.floor((poolSize() - 1) / perJob));
}
