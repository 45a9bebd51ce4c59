import { program } from "../program.ts";
import { addInvalid, type InvalidEntries } from "../sessions/parse-stats.ts";
import type { UnsentSession } from "../sessions/session.ts";
import { formatCount, formatNumber } from "./format.ts";
import { styled } from "./styled.ts";
import type { Terminal } from "./terminal.ts";

/** The counts of what the server did, as "1 new, 0 updated; 4 messages written." */
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

/** Says how many projects were left out, and where to see which. */
export function sayLeftOut(terminal: Terminal, projects: { size: number }): void {
  if (projects.size === 0) return;
  const verb = projects.size === 1 ? "is" : "are";
  terminal.say(styled("dim", `${formatCount(projects.size, "project")} ${verb} left out. See: ${program} projects`));
}

const mark = styled("yellow", "!");

/** Warns of each session that could not be sent. */
export function warnUnsent(terminal: Terminal, left: readonly UnsentSession[]): void {
  for (const { source, sourceId, reason } of left) {
    terminal.warn(mark, ` Not sent: ${source} ${sourceId}: ${reason}`);
  }
}

/** Warns of pictures that the server did not take. */
export const warnRefused = (terminal: Terminal, pictures: number): void =>
  terminal.warn(mark, ` The server refused ${formatCount(pictures, "picture")}: placeholders are shown instead.`);

/** Warns of invalid entries: the first few by file and line, the others by their number. */
export function warnInvalid(terminal: Terminal, stats: Iterable<InvalidEntries>): void {
  const all: InvalidEntries = { invalid: 0, invalidSamples: [] };
  for (const one of stats) addInvalid(all, one);
  for (const sample of all.invalidSamples) terminal.warn(mark, ` Skipped: ${sample}`);
  const more = all.invalid - all.invalidSamples.length;
  if (more > 0) terminal.warn(mark, ` and ${formatNumber(more)} more`);
}
