import { adapters } from "../adapters/all.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { Failure } from "../failure.ts";
import { ScanIndex } from "../index-file.ts";
import { usualLimits } from "../limits.ts";
import { program } from "../program.ts";
import { findInputs, readInput } from "../reading.ts";
import { sizeOf } from "../session.ts";
import { readSettings, serverOf, tokenOf } from "../settings.ts";
import { addTally, emptyTally, type Tally } from "../tally.ts";
import { report, type Submission } from "../telemetry.ts";
import { amountOf, clockOf, numberOf, printable } from "../terminal.ts";

const bounds = { bytes: usualLimits.decodedBytes, messages: usualLimits.messagesPerTrace };

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

async function count(context: Context): Promise<Map<string, Tally>> {
  const { place, terminal, signal } = context;
  const names = listValue(context, "source");
  const unknown = names.find((name) => !adapters.some((adapter) => adapter.name === name));
  if (unknown) {
    const known = adapters.map(({ name }) => name).join(", ");
    throw new Failure("usage", `There is no agent "${unknown}". There are: ${known}.`);
  }
  const wanted = adapters.filter(({ name }) => names.length === 0 || names.includes(name));
  const tallies = new Map(wanted.map(({ name }) => [name, emptyTally()]));
  const index = await ScanIndex.open(place);
  const startedAt = performance.now();
  const total = emptyTally();
  for await (const found of findInputs(place, (adapter) => wanted.includes(adapter))) {
    signal.throwIfAborted();
    const tally = index.tallyOf(found) ?? index.note(found, await readInput(found, { bounds }));
    addTally(tallies.get(found.adapter.name) ?? emptyTally(), tally);
    total.inputs++;
    total.bytes += found.bytes;
    const shown = () => `Reading  ${amountOf(total.inputs, "file")}, ${sizeOf(total.bytes)}, `;
    terminal.progress(() => shown() + clockOf(performance.now() - startedAt));
  }
  await index.save(names.length === 0).catch((error) => {
    if (!(error instanceof Failure)) throw error;
    terminal.warn(`${error.message} The next scan reads everything again.`);
  });
  return tallies;
}

function show({ terminal }: Context, tallies: Map<string, Tally>, milliseconds: number): void {
  const heading = ["Agent", "Sessions", "Messages", "Skipped", "Rejected", "Unhandled", "Invalid", "Size"];
  const found = adapters.filter(({ name }) => (tallies.get(name)?.inputs ?? 0) > 0);
  const rows = found.map(({ name, title }) => {
    const { sessions, messages, skipped, left, unhandled, invalid, bytes } = tallies.get(name) ?? emptyTally();
    const types = Object.keys(unhandled).length;
    return [title, ...[sessions, messages, skipped, left.length, types, invalid].map(numberOf), sizeOf(bytes)];
  });
  if (rows.length === 0) {
    terminal.say(`No sessions found. To see where they are looked for: ${program} doctor`);
    return;
  }
  terminal.table(heading, rows);
  terminal.say(terminal.style("dim", `in ${(milliseconds / 1000).toFixed(1)} s; nothing was sent`));
  for (const { name, title } of found) showFaults(title, tallies.get(name) ?? emptyTally());

  function showFaults(title: string, { unhandled, left }: Tally): void {
    const types = Object.entries(unhandled).sort(([, a], [, b]) => b - a);
    if (types.length > 0) {
      const listed = types.slice(0, 10).map(([type, times]) => `${printable(type)} (${numberOf(times)})`);
      terminal.say(`\n${title}: types that this client does not know: ${listed.join(", ")}`);
    }
    for (const { sourceId, reason } of left)
      terminal.warn(`${title}: ${printable(sourceId)} can't be sent: ${printable(reason)}`);
  }
}

/** Telemetry goes to the server that this machine is logged in at; where there is none, nothing goes anywhere. */
async function tell(context: Context, tallies: Map<string, Tally>): Promise<{ submission: Submission; sent: boolean }> {
  const { place } = context;
  const settings = await readSettings(place);
  const server = serverIfKnown();
  const token = server && tokenOf(place, settings, server);
  return report(context, { settings, server, token }, "scan", tallies);

  function serverIfKnown(): string | undefined {
    try {
      return serverOf(place, settings, stringValue(context, "server"));
    } catch (error) {
      if (error instanceof Failure) return undefined;
      throw error;
    }
  }
}

function showTelemetry({ terminal }: Context, submission: Submission, sent: boolean): void {
  terminal.say(`\nTelemetry of this scan (${sent ? "sent" : "not sent"}), whole:`);
  terminal.say(JSON.stringify(submission, null, 2));
}
