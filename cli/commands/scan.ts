import { adapters } from "../adapters/registry.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { defaultLimits } from "../server/limits.ts";
import { report, type TelemetryReport } from "../server/telemetry.ts";
import { findInputs, readInput } from "../sessions/inputs.ts";
import { addStats, emptyStats, type ParseStats } from "../sessions/parse-stats.ts";
import { ScanIndex } from "../sessions/scan-index.ts";
import { formatBytes } from "../sessions/session.ts";
import { readSettings, serverOf, tokenOf } from "../settings.ts";
import { formatCount, formatDuration, formatNumber, toPrintable } from "../terminal/terminal.ts";

const bounds = { bytes: defaultLimits.decodedBytes, messages: defaultLimits.messagesPerTrace };

/** Looks at every session of this machine, and sends none. */
export async function scan(context: Context): Promise<void> {
  const { terminal, values } = context;
  const startedAt = performance.now();
  const tallies = await count(context);
  const milliseconds = performance.now() - startedAt;
  show(context, tallies, milliseconds);
  const { submission, sent } = await tell(context, tallies);
  if (values["show-telemetry"] === true) showTelemetry(context, submission, sent);
  terminal.json({
    adapters: Object.fromEntries([...tallies].map(([name, tally]) => [name, tally])),
    milliseconds: Math.round(milliseconds),
    telemetry: { sent, submission },
  });
}

async function count(context: Context): Promise<Map<string, ParseStats>> {
  const { host, terminal, signal } = context;
  const names = listValue(context, "source");
  const unknown = names.find((name) => !adapters.some((adapter) => adapter.name === name));
  if (unknown) {
    const known = adapters.map(({ name }) => name).join(", ");
    throw new CommandError("usage", `There is no agent "${unknown}". There are: ${known}.`);
  }
  const wanted = adapters.filter(({ name }) => names.length === 0 || names.includes(name));
  const tallies = new Map(wanted.map(({ name }) => [name, emptyStats()]));
  const index = await ScanIndex.open(host);
  const startedAt = performance.now();
  const total = emptyStats();
  for await (const found of findInputs(host, (adapter) => wanted.includes(adapter))) {
    signal.throwIfAborted();
    const tally = index.tallyOf(found) ?? index.note(found, await readInput(found, { bounds }));
    addStats(tallies.get(found.adapter.name) ?? emptyStats(), tally);
    total.inputs++;
    total.bytes += found.bytes;
    const shown = () => `Reading  ${formatCount(total.inputs, "file")}, ${formatBytes(total.bytes)}, `;
    terminal.progress(() => shown() + formatDuration(performance.now() - startedAt));
  }
  await index.save(names.length === 0).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`${error.message} The next scan reads everything again.`);
  });
  return tallies;
}

function show({ terminal }: Context, tallies: Map<string, ParseStats>, milliseconds: number): void {
  const heading = ["Agent", "Sessions", "Messages", "Skipped", "Rejected", "Unhandled", "Invalid", "Size"];
  const found = adapters.filter(({ name }) => (tallies.get(name)?.inputs ?? 0) > 0);
  const rows = found.map(({ name, title }) => {
    const { sessions, messages, skipped, left, unhandled, invalid, bytes } = tallies.get(name) ?? emptyStats();
    const types = Object.keys(unhandled).length;
    return [title, ...[sessions, messages, skipped, left.length, types, invalid].map(formatNumber), formatBytes(bytes)];
  });
  if (rows.length === 0) {
    terminal.say(`No sessions found. To see where they are looked for: ${program} doctor`);
    return;
  }
  terminal.table(heading, rows);
  terminal.say(terminal.style("dim", `in ${(milliseconds / 1000).toFixed(1)} s; nothing was sent`));
  for (const { name, title } of found) showFaults(title, tallies.get(name) ?? emptyStats());

  function showFaults(title: string, { unhandled, left }: ParseStats): void {
    const types = Object.entries(unhandled).sort(([, a], [, b]) => b - a);
    if (types.length > 0) {
      const listed = types.slice(0, 10).map(([type, times]) => `${toPrintable(type)} (${formatNumber(times)})`);
      terminal.say(`\n${title}: types that this client does not know: ${listed.join(", ")}`);
    }
    for (const { sourceId, reason } of left)
      terminal.warn(`${title}: ${toPrintable(sourceId)} can't be sent: ${toPrintable(reason)}`);
  }
}

/** Telemetry goes to the server that this machine is logged in at; where there is none, nothing goes anywhere. */
async function tell(
  context: Context,
  tallies: Map<string, ParseStats>,
): Promise<{ submission: TelemetryReport; sent: boolean }> {
  const { host } = context;
  const settings = await readSettings(host);
  const server = serverIfKnown();
  const token = server && tokenOf(host, settings, server);
  return report(context, { settings, server, token }, "scan", tallies);

  function serverIfKnown(): string | undefined {
    try {
      return serverOf(host, settings, stringValue(context, "server"));
    } catch (error) {
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  }
}

function showTelemetry({ terminal }: Context, submission: TelemetryReport, sent: boolean): void {
  terminal.say(`\nTelemetry of this scan (${sent ? "sent" : "not sent"}), whole:`);
  terminal.say(JSON.stringify(submission, null, 2));
}
