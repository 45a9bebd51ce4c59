import { adapters } from "../adapters/registry.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { defaultLimits } from "../server/limits.ts";
import { sendTelemetry, type TelemetryReport } from "../server/telemetry.ts";
import { findInputs, parseInput } from "../sessions/inputs.ts";
import { addStats, emptyStats, type ParseStats } from "../sessions/parse-stats.ts";
import { ScanIndex } from "../sessions/scan-index.ts";
import { readSettings, serverOf, tokenOf } from "../settings.ts";
import { formatBytes, formatCount, formatDuration, formatNumber, toPrintable } from "../terminal/format.ts";
import { warnInvalid } from "../terminal/outcomes.ts";
import type { Column } from "../terminal/terminal.ts";

const limits = { bytes: defaultLimits.decodedBytes, messages: defaultLimits.messagesPerTrace };

/** Counts the sessions on this machine and sends the counts as telemetry, unless that is off. Sends no session. */
export async function scan(context: Context): Promise<void> {
  const { terminal, values } = context;
  const server = await serverIfSet(context);
  const startedAt = performance.now();
  const stats = await countSessions(context);
  const milliseconds = performance.now() - startedAt;
  printStats(context, stats, milliseconds);
  const { submission, sent } = await reportScan(context, server, stats);
  printTelemetry(context, { server, sent });
  if (values["show-telemetry"] === true) printReport(context, submission, sent);
  terminal.json({
    adapters: Object.fromEntries([...stats].map(([name, one]) => [name, one])),
    milliseconds: Math.round(milliseconds),
    telemetry: { sent, submission },
  });
}

async function countSessions(context: Context): Promise<Map<string, ParseStats>> {
  const { host, terminal, signal } = context;
  const names = listValue(context, "source");
  const unknown = names.find((name) => !adapters.some((adapter) => adapter.name === name));
  if (unknown !== undefined) {
    const known = adapters.map(({ name }) => name).join(", ");
    throw new CommandError("usage", `Unknown source "${unknown}". Known sources: ${known}.`);
  }
  const wanted = adapters.filter(({ name }) => names.length === 0 || names.includes(name));
  const stats = new Map(wanted.map(({ name }) => [name, emptyStats()]));
  const index = await ScanIndex.open(host);
  const startedAt = performance.now();
  const total = emptyStats();
  for await (const input of findInputs(host, (adapter) => wanted.includes(adapter))) {
    signal.throwIfAborted();
    const found = index.statsOf(input) ?? index.add(input, await parseInput(input, { limits }));
    addStats(stats.get(input.adapter.name) ?? emptyStats(), found);
    total.inputs++;
    total.bytes += input.bytes;
    const read = () => `Reading  ${formatCount(total.inputs, "file")}, ${formatBytes(total.bytes)}, `;
    terminal.progress(() => read() + formatDuration(performance.now() - startedAt));
  }
  await index.save(names.length === 0).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`${error.message} The next scan will read every file again.`);
  });
  return stats;
}

const columns: Column[] = [
  { title: "Agent", align: "left" },
  ...["Sessions", "Messages", "Skipped", "Rejected", "Unhandled", "Invalid", "Size"].map((title) => ({
    title,
    align: "right" as const,
  })),
];

function printStats({ terminal }: Context, stats: Map<string, ParseStats>, milliseconds: number): void {
  const found = adapters.flatMap(({ name, title }) => {
    const one = stats.get(name);
    return one && one.inputs > 0 ? [{ title, ...one }] : [];
  });
  if (found.length === 0) {
    terminal.say(`No sessions found. See where Spoor looks: ${program} doctor`);
    return;
  }
  const rows = found.map(({ title, sessions, messages, skipped, left, unhandled, invalid, bytes }) => {
    const counts = [sessions, messages, skipped, left.length, Object.keys(unhandled).length, invalid];
    return [title, ...counts.map(formatNumber), formatBytes(bytes)];
  });
  terminal.table(columns, rows);
  terminal.say(terminal.style("dim", `Scanned in ${(milliseconds / 1000).toFixed(1)} s. No session was sent.`));
  for (const { title, unhandled, left } of found) {
    const types = Object.entries(unhandled).sort(([, a], [, b]) => b - a);
    if (types.length > 0) {
      const listed = types.slice(0, 10).map(([type, times]) => `${toPrintable(type)} (${formatNumber(times)})`);
      terminal.say(`\n${title}: unknown line types: ${listed.join(", ")}`);
    }
    for (const { sourceId, reason } of left)
      terminal.warn(`${title}: ${toPrintable(sourceId)} can't be sent: ${toPrintable(reason)}`);
  }
  warnInvalid(terminal, found);
}

/** The server to report to; undefined where none is set. @throws CommandError where `--server` or `SPOOR_URL` is no URL */
async function serverIfSet(context: Context): Promise<string | undefined> {
  const { host } = context;
  const option = stringValue(context, "server");
  const settings = await readSettings(host);
  try {
    return serverOf(host, settings, option);
  } catch (error) {
    if (!(error instanceof CommandError) || option !== undefined || host.env.SPOOR_URL) throw error;
    return undefined;
  }
}

async function reportScan(context: Context, server: string | undefined, stats: Map<string, ParseStats>) {
  const { host } = context;
  const settings = await readSettings(host);
  const token = server && tokenOf(host, settings, server);
  return sendTelemetry(context, { settings, server, token }, "scan", stats);
}

/** Says what was sent, and how to switch it off. */
function printTelemetry({ terminal }: Context, { server, sent }: { server: string | undefined; sent: boolean }): void {
  const text = sent
    ? `Telemetry was sent to ${server}: counts and line types, no content.\nTurn it off with --no-telemetry or DO_NOT_TRACK=1.`
    : "No telemetry was sent.";
  terminal.say(terminal.style("dim", text));
}

function printReport({ terminal }: Context, submission: TelemetryReport, sent: boolean): void {
  terminal.say(`\nThe complete telemetry report of this scan (${sent ? "sent" : "not sent"}):`);
  terminal.say(JSON.stringify(submission, null, 2));
}
