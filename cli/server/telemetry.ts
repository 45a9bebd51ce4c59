import { existsSync } from "node:fs";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { running } from "../program.ts";
import type { ParseStats } from "../sessions/parse-stats.ts";
import { type Settings, settingsPath, writeSettings } from "../settings.ts";
import { hasTokenShape } from "../terminal/terminal.ts";
import { Api, HttpError } from "./api.ts";

/** The body of `POST /api/cli/telemetry`: counts and type names, never file names or content. */
export type TelemetryReport = {
  schema: 1;
  deviceId: string;
  cliVersion: string;
  platform: string;
  arch: string;
  command: string;
  diagnostics: {
    adapter: string;
    totalEntries: number;
    skippedEntries: number;
    invalidEntries: number;
    eventCount: number;
    traceCount: number;
    rejectedTraces: number;
    unhandledTypes: string[];
    emptyParse: boolean;
  }[];
};

/** Any other name is reported as `other`, because it might be content. */
const typeName = /^[A-Za-z][A-Za-z0-9_.:()-]{0,63}$/;

function buildReport(
  deviceId: string,
  command: string,
  stats: ReadonlyMap<string, ParseStats>,
  platform: string,
): TelemetryReport {
  const diagnostics = [...stats]
    .filter(([, { inputs }]) => inputs > 0)
    .map(([adapter, one]) => ({
      adapter: adapter.slice(0, 64),
      totalEntries: one.entries,
      skippedEntries: one.skipped,
      invalidEntries: one.invalid,
      eventCount: one.messages,
      traceCount: one.sessions,
      rejectedTraces: one.left.length,
      unhandledTypes: typeNames(one.unhandled),
      emptyParse: one.entries > 0 && one.messages === 0,
    }));
  return { schema: 1, deviceId, cliVersion: running.version, platform, arch: process.arch, command, diagnostics };
}

function typeNames(unhandled: ParseStats["unhandled"]): string[] {
  const names = Object.entries(unhandled)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => (typeName.test(name) && !hasTokenShape(name) ? name : "other"));
  return [...new Set(names)].slice(0, 100);
}

const isOff = ({ values, host }: Context): boolean =>
  values["no-telemetry"] === true || !["", "0", "false", undefined].includes(host.env.DO_NOT_TRACK);

export type Destination = { settings: Settings; server: string | undefined; token: string | undefined };

/**
 * @param stats by adapter
 * @returns the report, sent or not
 */
export async function sendTelemetry(
  context: Context,
  { settings, server, token }: Destination,
  command: string,
  stats: ReadonlyMap<string, ParseStats>,
): Promise<{ submission: TelemetryReport; sent: boolean }> {
  const { host } = context;
  const submission = buildReport(settings.deviceId, command, stats, host.platform);
  if (isOff(context) || !server || !token || submission.diagnostics.length === 0) return { submission, sent: false };
  if (!(await keepDeviceId(host, settings))) return { submission, sent: false };
  return { submission, sent: await submit(server, token, submission) };
}

/** With a new id for each report, a machine that never logged in would count as several. */
async function keepDeviceId(host: Context["host"], settings: Settings): Promise<boolean> {
  if (existsSync(settingsPath(host))) return true;
  try {
    await writeSettings(host, settings);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** Tries once, because nothing depends on a report. */
async function submit(server: string, token: string, submission: TelemetryReport): Promise<boolean> {
  const api = new Api(server, { token, patienceSeconds: 0 });
  try {
    await api.request("/api/cli/telemetry", { method: "POST", json: submission, retries: false, timeoutSeconds: 3 });
    return true;
  } catch (error) {
    if (error instanceof CommandError || error instanceof HttpError) return false;
    throw error;
  }
}
