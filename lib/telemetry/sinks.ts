import { Webhook } from "standardwebhooks";
import { v5 as uuidOf } from "uuid";
import type { Env } from "#lib/env";
import type { Post, SinkAnswer } from "#lib/telemetry/post";
import type { Report } from "#lib/telemetry/report";

/** Where submissions go, as the operator's environment says. */
export type Sink = {
  kind: NonNullable<Env["TELEMETRY_SINK"]>;
  url: string;
  key: string | undefined;
  allowPrivate: boolean;
};

/** The sink of an environment, or undefined where it has none. */
export function sinkOf(environment: Env): Sink | undefined {
  const { TELEMETRY_SINK: kind, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = environment;
  if (!kind || !url) return undefined;
  return { kind, url, key, allowPrivate: environment.TELEMETRY_SINK_ALLOW_PRIVATE === "1" };
}

/** One thing that a submission tells. Its id is the same at every try. */
export type Fact = { id: string; name: "spoor scan" | "spoor diagnostic" | "spoor client event"; facts: object };

/**
 * A submission as single facts: the scan, each diagnostic, each client event. What a client named itself stands in values
 * alone, never in a name that a sink gives a meaning to (`$identify`).
 */
export function factsOf({ id, scan, diagnostics, events }: Report): Fact[] {
  const { deviceId: _stands_beside, ...about } = scan;
  const facts: Omit<Fact, "id">[] = [
    { name: "spoor scan", facts: { ...about, diagnosticCount: diagnostics.length, eventCount: events.length } },
    ...diagnostics.map((diagnostic) => ({ name: "spoor diagnostic" as const, facts: { ...about, ...diagnostic } })),
    ...events.map((event) => ({
      name: "spoor client event" as const,
      facts: { ...about, eventName: event.name, eventProperties: event.properties },
    })),
  ];
  return facts.map((fact, at) => ({ ...fact, id: uuidOf(String(at), id) }));
}

/**
 * Hands a submission to a sink.
 *
 * @param deliver makes the request. @throws what it throws
 */
export async function sendTo(
  sink: Sink,
  report: Report,
  deliver: (post: Post) => Promise<SinkAnswer>,
): Promise<SinkAnswer> {
  if (sink.kind === "posthog") return deliver(posthogRequest(sink, report));
  if (sink.kind === "webhook") return deliver(webhookRequest(sink, report));
  const { exportLogs } = await import("#lib/telemetry/otlp");
  return exportLogs(sink, report, deliver);
}

const json = { "Content-Type": "application/json" };

/** PostHog's batch capture: events with ids of their own, which it takes once, and no profile of a person. */
function posthogRequest({ url, key }: Sink, report: Report): Post {
  const batch = factsOf(report).map(({ id, name, facts }) => ({
    uuid: id,
    event: name,
    distinct_id: report.scan.deviceId,
    timestamp: report.receivedAt.toISOString(),
    properties: { ...facts, reportId: report.id, $process_person_profile: false, $geoip_disable: true },
  }));
  return { url: below(url, "/batch/"), headers: json, body: JSON.stringify({ api_key: key, batch }) };
}

/** A message after Standard Webhooks, signed with the secret. */
function webhookRequest({ url, key = "" }: Sink, { id, receivedAt, scan, diagnostics, events }: Report): Post {
  const now = new Date();
  const data = { id, ...scan, diagnostics, events };
  const body = JSON.stringify({ type: "telemetry.received", timestamp: receivedAt.toISOString(), data });
  const headers = {
    ...json,
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(key).sign(id, now, body),
  };
  return { url, headers, body };
}

/** A path below a URL, unless the URL ends with it already. */
export function below(url: string, path: string): string {
  const target = new URL(url);
  const [given, wanted] = [target.pathname.replace(/\/+$/, ""), path.replace(/\/+$/, "")];
  if (!given.endsWith(wanted)) target.pathname = given + path;
  return target.href;
}
