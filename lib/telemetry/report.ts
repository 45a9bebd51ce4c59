import "server-only";
import { pool } from "#lib/db/client";

/** A stored submission as it is forwarded: metadata only. It names no user, and no address. */
export type Report = {
  id: string;
  receivedAt: Date;
  scan: {
    schema: number;
    deviceId: string;
    cliVersion: string;
    platform: string;
    arch: string;
    command: string;
    sentAt: string | null;
  };
  diagnostics: ReportedDiagnostic[];
  events: { name: string; properties: Record<string, unknown> }[];
};

type ReportedDiagnostic = {
  adapter: string;
  source: string | null;
  totalEntries: number;
  skippedEntries: number;
  invalidEntries: number;
  eventCount: number;
  traceCount: number;
  rejectedTraces: number;
  unhandledTypes: string[];
  emptyParse: boolean;
};

/** A submission by its id, or undefined where it is gone meanwhile. */
export async function loadReport(reportId: string): Promise<Report | undefined> {
  const { rows } = await pool().query<Report>(
    `select id, received_at as "receivedAt",
       json_build_object('schema', schema, 'deviceId', device_id, 'cliVersion', cli_version, 'platform', platform,
         'arch', arch, 'command', command, 'sentAt', sent_at) as scan,
       (select coalesce(json_agg(json_build_object('adapter', adapter, 'source', source,
           'totalEntries', total_entries, 'skippedEntries', skipped_entries, 'invalidEntries', invalid_entries,
           'eventCount', event_count, 'traceCount', trace_count, 'rejectedTraces', rejected_traces,
           'unhandledTypes', unhandled_types, 'emptyParse', empty_parse) order by position), '[]')
        from diagnostic where report_id = id) as diagnostics,
       (select coalesce(json_agg(json_build_object('name', name, 'properties', properties) order by position), '[]')
        from client_event where report_id = id) as events
     from telemetry_report where id = $1`,
    [reportId],
  );
  return rows[0];
}
