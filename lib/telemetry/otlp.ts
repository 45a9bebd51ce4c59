import { SeverityNumber } from "@opentelemetry/api";
import {
  createOtlpNetworkExportDelegate,
  ExporterMetrics,
  getSharedConfigurationDefaults,
  type IExporterTransport,
  OTLPExporterBase,
} from "@opentelemetry/otlp-exporter-base";
import { JsonLogsSerializer, LogsExporterMetricsHelper } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { LoggerProvider, type ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { Post, SinkAnswer } from "#lib/telemetry/post";
import type { Report } from "#lib/telemetry/report";
import { below, factsOf, type Sink } from "#lib/telemetry/sinks";

/** A submission as the SDK's log records: one for the scan, each diagnostic and each client event. */
function recordsOf(report: Report): ReadableLogRecord[] {
  const records: ReadableLogRecord[] = [];
  const processor = {
    onEmit: (record: ReadableLogRecord) => void records.push(record),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const resource = resourceFromAttributes({ "service.name": "spoor" });
  const logger = new LoggerProvider({ resource, processors: [processor] }).getLogger("spoor.telemetry");
  for (const { id, name, facts } of factsOf(report)) {
    const { deviceId } = report.scan;
    logger.emit({
      eventName: name.replaceAll(" ", "."),
      timestamp: report.receivedAt,
      observedTimestamp: report.receivedAt,
      severityNumber: SeverityNumber.INFO,
      body: name,
      attributes: { "log.record.uid": id, "report.id": report.id, "device.id": deviceId, ...facts },
    });
  }
  return records;
}

/**
 * Sends a submission through the OpenTelemetry SDK's exporter of logs (OTLP/HTTP, JSON).
 *
 * The exporter has a transport of ours: its own tries again by itself within its time-out, keeps what `Retry-After` said
 * to itself, sets no bound to the whole request, and adds the headers of `OTEL_EXPORTER_OTLP_HEADERS`, which are meant for
 * another server.
 *
 * @param deliver makes the request. @throws what it throws
 */
export async function exportLogs(
  { url, key }: Sink,
  report: Report,
  deliver: (post: Post) => Promise<SinkAnswer>,
): Promise<SinkAnswer> {
  const target = below(url, "/v1/logs");
  const headers = { "Content-Type": "application/json", ...authorization(key) };
  let answer: SinkAnswer | undefined;
  const transport: IExporterTransport = {
    send: async (body) => {
      answer = await deliver({ url: target, headers, body });
      return { status: "success" }; // that it was handed over; what the answer means is decided with all other sinks
    },
    shutdown: () => {},
  };
  const metrics = new ExporterMetrics({
    componentType: "otlp_http_log_exporter",
    metricsHelper: LogsExporterMetricsHelper,
    url: target,
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
  const exporter = new OTLPExporterBase(
    createOtlpNetworkExportDelegate(getSharedConfigurationDefaults(), JsonLogsSerializer, metrics, transport),
  );
  const { error } = await new Promise<{ error?: Error }>((resolve) => exporter.export(recordsOf(report), resolve));
  if (!answer) throw error ?? new Error("the exporter sent nothing");
  return answer;
}

/** A key that is a whole header (`Basic …`) is sent as it is, every other one as a bearer token. */
function authorization(key: string | undefined): Record<string, string> {
  if (!key) return {};
  return { Authorization: key.includes(" ") ? key : `Bearer ${key}` };
}
