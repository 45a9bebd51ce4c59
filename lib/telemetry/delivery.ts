import { Webhook } from "standardwebhooks";
import type { Post, SinkAnswer } from "#lib/telemetry/post";
import { type StoredReport, splitReport } from "#lib/telemetry/report";
import { appendPath, type Sink } from "#lib/telemetry/sink";

export async function sendReport(
  sink: Sink,
  report: StoredReport,
  deliver: (post: Post) => Promise<SinkAnswer>,
): Promise<SinkAnswer> {
  if (sink.kind === "posthog") return deliver(posthogRequest(sink, report));
  if (sink.kind === "webhook") return deliver(webhookRequest(sink, report));
  const { exportLogs } = await import("#lib/telemetry/otlp"); // the SDK is loaded only where it is used
  return exportLogs(sink, report, deliver);
}

const json = { "Content-Type": "application/json" };

/** Stable event ids make a batch idempotent; no person profile is created. */
function posthogRequest({ url, key }: Sink, report: StoredReport): Post {
  const batch = splitReport(report).map(({ id, name, facts }) => ({
    uuid: id,
    event: name,
    distinct_id: report.scan.deviceId,
    timestamp: report.receivedAt.toISOString(),
    properties: { ...facts, reportId: report.id, $process_person_profile: false, $geoip_disable: true },
  }));
  return { url: appendPath(url, "/batch/"), headers: json, body: JSON.stringify({ api_key: key, batch }) };
}

/** Standard Webhooks. */
function webhookRequest({ url, key = "" }: Sink, { id, receivedAt, scan, diagnostics, events }: StoredReport): Post {
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
