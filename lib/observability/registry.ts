import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";

/** `status` is 499 if the client disconnected before the answer began. */
export type Answered = { method: string; route: string; status: number };

/** The web server and the application's bundles share the registry. */
export const processRegistry = (): Registry =>
  oncePerProcess("metrics", () => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    return registry;
  });

let requests: Histogram<keyof Answered> | undefined;

/** Records a request's duration. The labels are bounded: a route is one of the application's patterns. */
export function observeRequest(answered: Answered, seconds: number): void {
  requests ??= new Histogram({
    name: "spoor_http_request_duration_seconds",
    help: "Requests answered by this process, from their headers to the end of the answer.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers: [processRegistry()],
  });
  requests.observe(answered, seconds);
}
