import { structuredPatch } from "diff";
import type { DiffLine } from "#lib/reader/message";
import { countLines } from "#lib/reader/text";

/** What changed: lines to draw, at most `maxLines` of them, and how many were added and removed in all. */
export type Change = { lines: DiffLine[]; added: number; removed: number };

/** A larger change is not compared but shown as all of the old and all of the new. */
const comparable = { characters: 200_000, edits: 2000, milliseconds: 50 };
const maxLines = 5000;

/**
 * The time that comparisons may take of this process: a burst in milliseconds, and a share in the long run. Without it a
 * message of 200 small edits blocked everyone for a second, and a segment of them for nine.
 */
const time = { milliseconds: 400, share: 0.25 };
let leftMs = time.milliseconds;
let countedAt = performance.now();

/** Adds the share since the last call, and takes off what was spent. @returns what is left, in milliseconds */
function timeLeft(spentMs: number): number {
  const now = performance.now();
  leftMs = Math.min(time.milliseconds, leftMs + (now - countedAt) * time.share) - spentMs;
  countedAt = now;
  return leftMs;
}

/**
 * A text in place of another, as a unified diff's lines with three lines of context. Both are pieces of a file, so whether the
 * last line ends with a newline is no difference, unless it is the only one.
 */
export function compare(before: string, after: string): Change {
  const ended = [withNewline(before), withNewline(after)] as const;
  return ended[0] === ended[1] ? compareLines(before, after) : compareLines(...ended);
}

const withNewline = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

function compareLines(before: string, after: string): Change {
  const { characters, edits, milliseconds } = comparable;
  if (before === "" || before.length + after.length > characters || timeLeft(0) <= 0) return replaced(before, after);
  const options = { context: 3, maxEditLength: edits, timeout: milliseconds };
  const startedAt = performance.now();
  const patch = structuredPatch("", "", before, after, "", "", options);
  timeLeft(performance.now() - startedAt);
  if (!patch) return replaced(before, after);
  return changeOf(
    patch.hunks.flatMap((hunk, index) => [...(index > 0 ? ["@@"] : []), ...hunk.lines.filter(isContent)]),
  );
}

const isContent = (line: string) => !line.startsWith("\\");

function replaced(before: string, after: string): Change {
  const lines = [...linesOf(before, "removed"), ...linesOf(after, "added")];
  return { lines, added: countLines(after), removed: countLines(before) };
}

function linesOf(text: string, type: DiffLine["type"]): DiffLine[] {
  if (text === "") return [];
  const lines = text.split("\n", maxLines + 1);
  if (lines.length <= maxLines && lines.at(-1) === "") lines.pop();
  const more = lines.length > maxLines ? countLines(text) - maxLines : 0;
  return [...lines.slice(0, maxLines).map((line) => ({ type, text: line })), ...notDrawn(more)];
}

const notDrawn = (lines: number): DiffLine[] =>
  lines > 0 ? [{ type: "hunk", text: `${lines.toLocaleString("en")} more lines are not shown` }] : [];

/** The lines of a unified diff; headers of files are left out, hunks' headings are kept. */
export const readPatch = (patch: string): Change =>
  changeOf(
    patch
      .replace(/\n$/, "")
      .split("\n")
      .filter((line) => !header.test(line)),
  );

const header = /^(?:\\ |--- |\+\+\+ |diff --git |index [0-9a-f]|\*\*\* )/;

function changeOf(lines: string[]): Change {
  const first = /^@@[^\n]*?(?:@@ ?)?$/.test(lines[0] ?? "") ? 1 : 0;
  const count = (sign: string) => lines.reduce((sum, line) => sum + (line.startsWith(sign) ? 1 : 0), 0);
  return {
    lines: [...lines.slice(first, maxLines).map(readLine), ...notDrawn(lines.length - maxLines)],
    added: count("+"),
    removed: count("-"),
  };
}

function readLine(line: string): DiffLine {
  if (line.startsWith("@@")) return { type: "hunk", text: line.replace(/^@@.*?@@ ?|^@@ ?/, "") };
  const type = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  return { type, text: type === "same" && !line.startsWith(" ") ? line : line.slice(1) };
}

/** Several changes of one file as one. */
export const joinChanges = (changes: Change[]): Change => ({
  lines: changes.flatMap(({ lines }, index) => [...(index > 0 ? [{ type: "hunk", text: "" } as const] : []), ...lines]),
  ...sumOf(changes),
});

export const sumOf = (counts: { added: number; removed: number }[]) => ({
  added: counts.reduce((total, { added }) => total + added, 0),
  removed: counts.reduce((total, { removed }) => total + removed, 0),
});

/** The files of a patch in the form of Codex's `apply_patch`, each with its part of the patch; undefined for other text. */
export function readFilePatches(text: string): { path: string; patch: string; isNew: boolean }[] | undefined {
  if (!/^\*\*\* (?:Begin Patch|Add File|Update File|Delete File)/m.test(text)) return undefined;
  const parts = text.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m).slice(1, 1001);
  return parts.map((part) => {
    const [, verb, path = ""] = /^\*\*\* (Add|Update|Delete) File: ([^\n]*)/.exec(part) ?? [];
    return { path: path.trim(), patch: part.slice(part.indexOf("\n") + 1), isNew: verb === "Add" };
  });
}
