// What this process alone knows of itself, in the Prometheus client's own registry. It is made where /api/metrics is open,
// and loaded nowhere else.
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** A request that was answered. @param status 499 where the client was gone before there was an answer */
export type Answered = { method: string; route: string; status: number };

const globals = globalThis as typeof globalThis & { spoorRegistry?: Registry };

/** The registry, which the web server and the application's bundles share. */
export function processRegistry(): Registry {
  if (globals.spoorRegistry) return globals.spoorRegistry;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  globals.spoorRegistry = registry;
  return registry;
}

let requests: Histogram<keyof Answered> | undefined;

/** Counts a request with how long it took. Its labels are bounded: a route is a pattern of the application's. */
export function observeRequest(answered: Answered, seconds: number): void {
  requests ??= new Histogram({
    name: "spoor_http_request_duration_seconds",
    help: "Requests that this process answered, with the time from their headers to the end of the answer.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers: [processRegistry()],
  });
  requests.observe(answered, seconds);
}
