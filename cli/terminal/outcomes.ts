import type { SentCopies } from "../originals/send.ts";
import { program } from "../program.ts";
import { addInvalid, type InvalidEntries } from "../sessions/parse-stats.ts";
import type { UnsentSession } from "../sessions/session.ts";
import type { KeptSession } from "../sync/jobs.ts";
import { formatBytes, formatCount, formatNumber } from "./format.ts";
import { styled, type Terminal } from "./terminal.ts";

/** "1 new, 0 updated; 4 messages written." */
export function describeSent(sent: {
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
}): string {
  const { created, updated, unchanged, kept, written } = sent;
  const parts = [`${formatNumber(created)} new`, `${formatNumber(updated)} updated`];
  if (unchanged > 0) parts.push(`${formatNumber(unchanged)} unchanged`);
  if (kept > 0) parts.push(`${formatNumber(kept)} kept (deleted on the server, or longer there)`);
  return `${parts.join(", ")}; ${formatCount(written, "message")} written.`;
}

export const describeCopies = ({ copies, wireBytes }: SentCopies): string =>
  `Exact copies of ${formatCount(copies, "session")} were sent, ${formatBytes(wireBytes)}.`;

export function sayLeftOut(terminal: Terminal, projects: { size: number }): void {
  if (projects.size === 0) return;
  const verb = projects.size === 1 ? "is" : "are";
  terminal.say(styled("dim", `${formatCount(projects.size, "project")} ${verb} excluded. See: ${program} projects`));
}

const mark = styled("yellow", "!");

export function warnUnsent(terminal: Terminal, left: readonly UnsentSession[]): void {
  for (const { source, sourceId, reason } of left) {
    terminal.warn(mark, ` Not sent: ${source} ${sourceId}: ${reason}`);
  }
}

const maxNamed = 5;

export function warnKept(terminal: Terminal, kept: readonly KeptSession[]): void {
  const shorter = kept.filter(({ reason }) => reason === "shorter");
  const deleted = kept.filter(({ reason }) => reason === "deleted");
  const other = kept.filter(({ reason }) => reason !== "shorter" && reason !== "deleted");
  for (const { source, sourceId, messageCount } of shorter.slice(0, maxNamed)) {
    const stored = formatCount(messageCount, "message");
    terminal.warn(
      mark,
      ` Not updated: ${source} ${sourceId}: the server has ${stored}, this machine fewer. New messages are`,
      ` archived once this machine has more. To archive this machine's version now: ${program} push --replace ${sourceId}`,
    );
  }
  if (shorter.length > maxNamed) terminal.warn(mark, ` and ${formatNumber(shorter.length - maxNamed)} more`);
  if (deleted.length > 0)
    terminal.warn(
      mark,
      ` Not archived: ${formatCount(deleted.length, "session")} that you deleted on the server. They stay deleted.`,
    );
  if (other.length > 0)
    terminal.warn(
      mark,
      ` Not updated: ${formatCount(other.length, "session")} with a newer upload on the server, for example from another machine.`,
    );
}

export const warnRefused = (terminal: Terminal, pictures: number): void =>
  terminal.warn(mark, ` The server refused ${formatCount(pictures, "picture")}: placeholders are shown instead.`);

export function warnInvalid(terminal: Terminal, stats: Iterable<InvalidEntries>): void {
  const all: InvalidEntries = { invalid: 0, invalidSamples: [] };
  for (const one of stats) addInvalid(all, one);
  for (const sample of all.invalidSamples) terminal.warn(mark, ` Skipped: ${sample}`);
  const more = all.invalid - all.invalidSamples.length;
  if (more > 0) terminal.warn(mark, ` and ${formatNumber(more)} more`);
}
