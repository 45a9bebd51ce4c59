import { structuredPatch } from "diff";
import type { DiffLine } from "#lib/reader/message";

/** Beyond these a change is not compared but shown as all of the old and all of the new. */
const comparable = { characters: 200_000, edits: 2000, milliseconds: 50 };

/** A text in place of another, as a unified diff's lines with three lines around each change. */
export function compare(before: string, after: string): DiffLine[] {
  const { characters, edits, milliseconds } = comparable;
  if (before === "") return linesOf(after, "added");
  const small = before.length + after.length <= characters;
  const patch = small
    ? structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: edits, timeout: milliseconds })
    : undefined;
  if (!patch) return [...linesOf(before, "removed"), ...linesOf(after, "added")];
  return patch.hunks.flatMap((hunk, index) => [
    ...(index > 0 ? [{ type: "hunk", text: "" } as const] : []),
    ...hunk.lines.filter((line) => !line.startsWith("\\")).map(readLine),
  ]);
}

function linesOf(text: string, type: DiffLine["type"]): DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ type, text: line }));
}

/** The lines of a unified diff; headers of files are left out, hunks' headings are kept. */
export function readPatch(patch: string): DiffLine[] {
  const lines = patch.replace(/\n$/, "").split("\n");
  return lines.filter((line) => !/^(?:\\ |--- |\+\+\+ |diff --git |index [0-9a-f]|\*\*\* )/.test(line)).map(readLine);
}

function readLine(line: string): DiffLine {
  if (line.startsWith("@@")) return { type: "hunk", text: line.replace(/^@@.*?@@ ?|^@@ ?/, "") };
  const type = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  return { type, text: type === "same" && !line.startsWith(" ") ? line : line.slice(1) };
}

/** How many lines came and went. */
export function countChanges(lines: DiffLine[]): { added: number; removed: number } {
  const count = (type: DiffLine["type"]) => lines.reduce((sum, line) => sum + (line.type === type ? 1 : 0), 0);
  return { added: count("added"), removed: count("removed") };
}

/** The files of a patch in the form of Codex's `apply_patch`, each with its part of the patch; undefined for other text. */
export function readFilePatches(text: string): { path: string; patch: string; isNew: boolean }[] | undefined {
  if (!/^\*\*\* (?:Begin Patch|Add File|Update File|Delete File)/m.test(text)) return undefined;
  const parts = text.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m).slice(1, 1001);
  return parts.map((part) => {
    const [, verb, path = ""] = /^\*\*\* (Add|Update|Delete) File: ([^\n]*)/.exec(part) ?? [];
    return { path: path.trim(), patch: part.slice(part.indexOf("\n") + 1), isNew: verb === "Add" };
  });
}
