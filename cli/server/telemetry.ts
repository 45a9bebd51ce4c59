import { existsSync } from "node:fs";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import type { ParseStats } from "../sessions/parse-stats.ts";
import { type Settings, settingsPath, writeSettings } from "../settings.ts";
import { version } from "../version.ts";
import { Api, HttpError } from "./api.ts";

/** A submission as `POST /api/cli/telemetry` takes it: counts and names of types, never of files, never content. */
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

/** Names of types are programs' words. What could be anything else is told as `other`. */
const typeName = /^[A-Za-z][A-Za-z0-9_.:()-]{0,63}$/;

function submissionOf(
  deviceId: string,
  command: string,
  tallies: ReadonlyMap<string, ParseStats>,
  platform: string,
): TelemetryReport {
  const diagnostics = [...tallies]
    .filter(([, { inputs }]) => inputs > 0)
    .map(([adapter, tally]) => ({
      adapter: adapter.slice(0, 64),
      totalEntries: tally.entries,
      skippedEntries: tally.skipped,
      invalidEntries: tally.invalid,
      eventCount: tally.messages,
      traceCount: tally.sessions,
      rejectedTraces: tally.left.length,
      unhandledTypes: namesOf(tally.unhandled),
      emptyParse: tally.entries > 0 && tally.messages === 0,
    }));
  return { schema: 1, deviceId, cliVersion: version, platform, arch: process.arch, command, diagnostics };
}

function namesOf(unhandled: ParseStats["unhandled"]): string[] {
  const names = Object.entries(unhandled)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => (typeName.test(name) ? name : "other"));
  return [...new Set(names)].slice(0, 100);
}

/** Whether the person wants none of it: `--no-telemetry`, or DO_NOT_TRACK (consoledonottrack.com). */
const isOff = ({ values, host }: Context): boolean =>
  values["no-telemetry"] === true || !["", "0", "false", undefined].includes(host.env.DO_NOT_TRACK);

/** Where a submission goes: one's own server, after a login there. */
type Destination = { settings: Settings; server: string | undefined; token: string | undefined };

/**
 * Tells the server how the adapters did, unless that is not wanted.
 *
 * @param tallies what was counted, by the adapters' names
 * @returns what it told, or would have
 */
export async function report(
  context: Context,
  { settings, server, token }: Destination,
  command: string,
  tallies: ReadonlyMap<string, ParseStats>,
): Promise<{ submission: TelemetryReport; sent: boolean }> {
  const { host } = context;
  const submission = submissionOf(settings.deviceId, command, tallies, host.platform);
  if (isOff(context) || !server || !token || submission.diagnostics.length === 0) return { submission, sent: false };
  if (!(await keepName(host, settings))) return { submission, sent: false };
  return { submission, sent: await submit(server, token, submission) };
}

/**
 * A machine that never logged in, and has its token from the environment, keeps its name from now on.
 *
 * @returns whether it has one: under a new name each time it would be told as many machines
 */
async function keepName(host: Context["host"], settings: Settings): Promise<boolean> {
  if (existsSync(settingsPath(host))) return true;
  try {
    await writeSettings(host, settings);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** Sends a submission, where that works at once: nobody waits for it, and nothing depends on it. */
async function submit(server: string, token: string, submission: TelemetryReport): Promise<boolean> {
  const api = new Api(server, { token, patienceSeconds: 0 });
  try {
    await api.ask("/api/cli/telemetry", { method: "POST", json: submission, retries: false, timeoutSeconds: 3 });
    return true;
  } catch (error) {
    if (error instanceof CommandError || error instanceof HttpError) return false;
    throw error;
  }
}
