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
import { type StoredReport, splitReport } from "#lib/telemetry/report";
import { appendPath, type Sink } from "#lib/telemetry/sink";

function toLogRecords(report: StoredReport): ReadableLogRecord[] {
  const records: ReadableLogRecord[] = [];
  const processor = {
    onEmit: (record: ReadableLogRecord) => void records.push(record),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const resource = resourceFromAttributes({ "service.name": "spoor" });
  const logger = new LoggerProvider({ resource, processors: [processor] }).getLogger("spoor.telemetry");
  for (const { id, name, facts } of splitReport(report)) {
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
 * Replaces the transport of OpenTelemetry's exporter, which retries by itself, hides `Retry-After`, has no total
 * deadline, and adds the headers of the operator's own collector.
 * @throws what `deliver` throws
 */
export async function exportLogs(
  { url, key }: Sink,
  report: StoredReport,
  deliver: (post: Post) => Promise<SinkAnswer>,
): Promise<SinkAnswer> {
  const target = appendPath(url, "/v1/logs");
  const headers = { "Content-Type": "application/json", ...authorization(key) };
  let answer: SinkAnswer | undefined;
  const transport: IExporterTransport = {
    send: async (body) => {
      answer = await deliver({ url: target, headers, body });
      return { status: "success" }; // the caller interprets the answer, as for every sink
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
  const { error } = await new Promise<{ error?: Error }>((resolve) => exporter.export(toLogRecords(report), resolve));
  if (!answer) throw error ?? new Error("the exporter sent nothing");
  return answer;
}

/** A key that is a complete header value (`Basic …`) is sent unchanged. */
function authorization(key: string | undefined): Record<string, string> {
  if (!key) return {};
  return { Authorization: key.includes(" ") ? key : `Bearer ${key}` };
}
