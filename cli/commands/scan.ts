import type { Adapter } from "../adapters/adapter.ts";
import { findMissingFolders } from "../adapters/named-folders.ts";
import { adapters } from "../adapters/registry.ts";
import { findUnreadable, type Unreadable } from "../adapters/unreadable.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { program } from "../program.ts";
import { foldHome, nameProject, ProjectRules } from "../projects/rules.ts";
import { sayFound } from "../redact/describe.ts";
import { addCounts, isRedacting, type SecretCounts } from "../redact/masker.ts";
import { loadSettings } from "../server/connection.ts";
import { isAgreed } from "../server/origin.ts";
import { type Destination, sendTelemetry, type TelemetryReport } from "../server/telemetry.ts";
import { readToken } from "../server/token.ts";
import { countInputs } from "../sessions/count.ts";
import { addStats, countPictures, emptyStats, type ParseStats, type PictureBytes } from "../sessions/parse-stats.ts";
import { findServer, readSettings } from "../settings.ts";
import { formatBytes, formatNumber, formatPictures } from "../terminal/format.ts";
import { sayLeftOut, warnInvalid } from "../terminal/outcomes.ts";
import { type Column, styled } from "../terminal/terminal.ts";

/** @returns `usage` if nothing was found and a variable names a missing folder */
export async function scan(context: Context): Promise<number> {
  const { terminal, values } = context;
  const destination = await findTelemetryDestination(context);
  const startedAt = performance.now();
  const found = await countSessions(context);
  const { stats, leftOut } = found;
  const pictures = countPictures([found.pictures]);
  const milliseconds = performance.now() - startedAt;
  const unreadable = listValue(context, "source").length > 0 ? [] : await findUnreadable(context.host);
  printStats(context, found, milliseconds);
  const missing = findMissingFolders(selectAdapters(context), context.host);
  for (const { variable, path } of missing) terminal.warn(`${variable} names ${path}, which does not exist.`);
  const secrets = [...found.secrets].map(([name, counts]) => ({ name, secrets: counts }));
  const isRedacted = isRedacting(await readSettings(context.host));
  sayFound(
    terminal,
    secrets.map(({ name, secrets }) => ({ name: foldHome(name, context.host), secrets })),
    isRedacted,
  );
  if (pictures.pictures > 0) terminal.say(`${formatPictures(pictures)} would be sent with them.`);
  sayLeftOut(terminal, leftOut);
  printUnreadable(context, unreadable);
  const { submission, sent } = await sendTelemetry(context, destination, "scan", stats);
  printTelemetry(context, { ...destination, sent });
  if (values["show-telemetry"] === true) printReport(context, submission, sent);
  terminal.json({
    adapters: Object.fromEntries([...stats].map(([name, one]) => [name, one])),
    unreadable,
    missing,
    projectsLeftOut: leftOut.size,
    secrets,
    isRedacted,
    ...pictures,
    milliseconds: Math.round(milliseconds),
    telemetry: { sent, submission },
  });
  const hasFound = leftOut.size > 0 || [...stats.values()].some(({ inputs }) => inputs > 0);
  return missing.length > 0 && !hasFound ? exitCodes.usage : exitCodes.done;
}

type ScanResult = {
  stats: Map<string, ParseStats>;
  leftOut: ReadonlySet<string>;
  secrets: Map<string, SecretCounts>;
  pictures: PictureBytes;
};

function selectAdapters(context: Context): readonly Adapter[] {
  const names = listValue(context, "source");
  const unknown = names.find((name) => !adapters.some((adapter) => adapter.name === name));
  if (unknown !== undefined) {
    const known = adapters.map(({ name }) => name).join(", ");
    throw new CommandError("usage", `Unknown source "${unknown}". Known sources: ${known}.`);
  }
  return adapters.filter(({ name }) => names.length === 0 || names.includes(name));
}

async function countSessions(context: Context): Promise<ScanResult> {
  const { host, terminal } = context;
  const wanted = selectAdapters(context);
  const stats = new Map(wanted.map(({ name }) => [name, emptyStats()]));
  const leftOut = new Set<string>();
  const secrets = new Map<string, SecretCounts>();
  const pictures: PictureBytes = {};
  const rules = await ProjectRules.open(host);
  const pictureRules = await ProjectRules.openForPictures(host);
  const counting = countInputs(context, {
    wanted: (adapter) => wanted.includes(adapter),
    isLeftOut: (labels) => rules.findExclusion(labels) !== undefined,
    isComplete: wanted.length === adapters.length,
    onInput({ adapter }, found) {
      addStats(stats.get(adapter.name) ?? emptyStats(), found);
      for (const part of found.projects) {
        const name = nameProject(part);
        if (part.isLeftOut) leftOut.add(name);
        else if (!pictureRules.findExclusion(part)) Object.assign(pictures, part.pictures);
        const counts = secrets.get(name) ?? {};
        addCounts(counts, part.secrets);
        if (Object.keys(counts).length > 0) secrets.set(name, counts);
      }
    },
  });
  await counting.catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`${error.message} The next scan will read every file again.`);
  });
  return { stats, leftOut, secrets, pictures };
}

const columns: Column[] = [
  { title: "Agent", align: "left" },
  ...["Sessions", "Messages", "Skipped", "Rejected", "Unhandled", "Invalid", "Size"].map((title) => ({
    title,
    align: "right" as const,
  })),
];

function printStats({ terminal }: Context, { stats, leftOut }: ScanResult, milliseconds: number): void {
  const found = adapters.flatMap(({ name, title }) => {
    const one = stats.get(name);
    return one && one.inputs > 0 ? [{ title, ...one }] : [];
  });
  if (found.length === 0) {
    const where = `No sessions found. See where Spoor looks: ${program} doctor`;
    terminal.say(leftOut.size > 0 ? "No session was counted." : where);
    return;
  }
  const rows = found.map(({ title, sessions, messages, skipped, left, unhandled, invalid, bytes }) => {
    const counts = [sessions, messages, skipped, left.length, Object.keys(unhandled).length, invalid];
    return [title, ...counts.map(formatNumber), formatBytes(bytes)];
  });
  terminal.table(columns, rows);
  terminal.say(styled("dim", `Scanned in ${(milliseconds / 1000).toFixed(1)} s. No session was sent.`));
  for (const { title, unhandled, left } of found) {
    const types = Object.entries(unhandled).sort(([, a], [, b]) => b - a);
    if (types.length > 0) {
      const listed = types.slice(0, 10).map(([type, times]) => `${type} (${formatNumber(times)})`);
      terminal.say();
      terminal.say(`${title}: unknown line types: ${listed.join(", ")}`);
    }
    for (const { sourceId, reason } of left) terminal.warn(`${title}: ${sourceId} can't be sent: ${reason}`);
  }
  warnInvalid(terminal, found);
}

function printUnreadable({ terminal }: Context, unreadable: Unreadable[]): void {
  for (const { title, path, why } of unreadable)
    terminal.warn(`${title} has sessions that can't be read: ${why}. See ${path}`);
}

async function findTelemetryDestination(context: Context): Promise<Destination> {
  const { host } = context;
  const settings = await loadSettings(context);
  const server = findServer(host, settings, stringValue(context, "server"));
  if (!server || !isAgreed(context, settings, server)) return { settings, server: undefined, token: undefined };
  return { settings, server, token: readToken(host, settings, server) };
}

function printTelemetry({ terminal }: Context, { server, sent }: { server: string | undefined; sent: boolean }): void {
  const lines = sent
    ? [
        `Telemetry was sent to ${server}: counts and line types, no content.`,
        "Turn it off with --no-telemetry or DO_NOT_TRACK=1.",
      ]
    : ["No telemetry was sent."];
  for (const line of lines) terminal.say(styled("dim", line));
}

function printReport({ terminal }: Context, submission: TelemetryReport, sent: boolean): void {
  terminal.say();
  terminal.say(`The complete telemetry report of this scan (${sent ? "sent" : "not sent"}):`);
  for (const line of JSON.stringify(submission, null, 2).split("\n")) terminal.say(line);
}
