import { structuredPatch } from "diff";
import { countChange, type Effort, type LineCounts } from "#lib/transcript/files/line-diff";
import { patchLines } from "#lib/transcript/files/patches";
import type { DiffLine } from "#lib/transcript/message";
import { countLines } from "#lib/transcript/text";

/** `lines` are cut at `maxLines`; the counts are complete. */
export type DiffChange = { lines: DiffLine[] } & LineCounts;

const comparable = { characters: 200_000, edits: 2000, milliseconds: 50 };
const maxLines = 5000;

/** Many small edits in one segment would block every request. */
const time = { milliseconds: 400, share: 0.25 };
let leftMs = time.milliseconds;
let countedAt = performance.now();

/** @returns milliseconds left */
function timeLeft(spentMs: number): number {
  const now = performance.now();
  leftMs = Math.min(time.milliseconds, leftMs + (now - countedAt) * time.share) - spentMs;
  countedAt = now;
  return leftMs;
}

/**
 * A missing newline at the end is ignored unless it is the only difference.
 * @param at the numbers of the texts' first lines in their file, if known
 */
export function compare(before: string, after: string, effort?: Effort, at?: DiffLine["at"]): DiffChange {
  const ended = [withNewline(before), withNewline(after)] as const;
  const lines = ended[0] === ended[1] ? compareLines(before, after, at) : compareLines(...ended, at);
  return { lines, ...countChange(before, after, effort) };
}

const withNewline = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

function compareLines(before: string, after: string, at: DiffLine["at"]): DiffLine[] {
  const heading = at ? [{ type: "hunk", text: "", at } as const] : [];
  const { characters, edits, milliseconds } = comparable;
  if (before === "" || before.length + after.length > characters || timeLeft(0) <= 0)
    return [...heading, ...replaced(before, after)];
  const options = { context: 3, maxEditLength: edits, timeout: milliseconds };
  const startedAt = performance.now();
  const patch = structuredPatch("", "", before, after, "", "", options);
  timeLeft(performance.now() - startedAt);
  if (!patch) return [...heading, ...replaced(before, after)];
  const lines = patch.hunks.flatMap((hunk, index) => [
    ...(at || index > 0 ? [makeHeading(hunk, at)] : []),
    ...hunk.lines.filter((line) => !line.startsWith("\\")).map(readLine),
  ]);
  return [...lines.slice(0, maxLines), ...notDrawn(lines.length - maxLines)];
}

const makeHeading = ({ oldStart, newStart }: { oldStart: number; newStart: number }, at: DiffLine["at"]): DiffLine => ({
  ...{ type: "hunk", text: "" },
  ...(at && { at: [at[0] + Math.max(1, oldStart) - 1, at[1] + Math.max(1, newStart) - 1] }),
});

const signs: Record<string, DiffLine["type"]> = { "+": "added", "-": "removed" };
const readLine = (line: string): DiffLine => ({ type: signs[line.charAt(0)] ?? "same", text: line.slice(1) });

const replaced = (before: string, after: string): DiffLine[] => [
  ...toDiffLines(before, "removed"),
  ...toDiffLines(after, "added"),
];

function toDiffLines(text: string, type: DiffLine["type"]): DiffLine[] {
  if (text === "") return [];
  const lines = text.split("\n", maxLines + 1);
  if (lines.length <= maxLines && lines.at(-1) === "") lines.pop();
  const more = lines.length > maxLines ? countLines(text) - maxLines : 0;
  return [...lines.slice(0, maxLines).map((line) => ({ type, text: line })), ...notDrawn(more)];
}

const notDrawn = (lines: number): DiffLine[] =>
  lines > 0 ? [{ type: "hunk", text: `${lines.toLocaleString("en")} more lines are not shown` }] : [];

/** Drops file headers and keeps hunk headings. */
export function readPatch(patch: string): DiffChange {
  const lines: DiffLine[] = [];
  let more = 0;
  const counts = { added: 0, removed: 0 };
  for (const line of patchLines(patch)) {
    if (line.type === "added" || line.type === "removed") counts[line.type] += 1;
    if (lines.length < maxLines) lines.push(line);
    else more += 1;
  }
  if (lines[0]?.type === "hunk" && !lines[0].at) lines.shift();
  return { lines: [...lines, ...notDrawn(more)], ...counts };
}

export const joinChanges = (changes: DiffChange[]): DiffChange => ({
  lines: changes.flatMap(({ lines }, index) => [
    ...(index > 0 && lines[0]?.type !== "hunk" ? [{ type: "hunk", text: "" } as const] : []),
    ...lines,
  ]),
  ...sumCounts(changes),
});

export const sumCounts = (counts: { added: number; removed: number }[]) => ({
  added: counts.reduce((total, { added }) => total + added, 0),
  removed: counts.reduce((total, { removed }) => total + removed, 0),
});
