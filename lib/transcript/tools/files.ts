import type { ToolResult } from "#lib/transcript/call";
import { countChangedLines, type FileChange, listChanges, reportedChanges } from "#lib/transcript/files/changed";
import { compare, type DiffChange, joinChanges, readPatch, sumCounts } from "#lib/transcript/files/changes";
import { type Effort, newEffort } from "#lib/transcript/files/line-diff";
import type { Block, RowPart } from "#lib/transcript/message";
import { countLines, firstLine, formatQuantity } from "#lib/transcript/text";
import { type Describe, field, getInputPath, printed } from "#lib/transcript/tools/describe";
import { findPathLanguage } from "#lib/transcript/vocabulary";

export const describeEdit: Describe = (input, outcome, call, result) => {
  if (input.command === "view") return describeRead(input, outcome, call, result);
  const files = listChanges({ ...call, input }, result, false);
  const { blocks, ...drawn } = drawFiles(files, files.length > 1);
  return {
    kind: files.length > 0 && files.every(({ action }) => action === "write") ? "write" : "edit",
    title: getFilesTitle(files) || firstLine(outcome.output) || "a file",
    ...(blocks.length > 0 && { changes: drawn.changes }),
    ...(isMade(outcome) && { files: drawn.files }),
    blocks: [...blocks, ...(outcome.status === "ok" && blocks.length > 0 ? [] : printed(outcome))],
  };
};

export function describeReported(
  result: ToolResult | undefined,
): { blocks: Block[] } & Pick<RowPart, "changes" | "files"> {
  const files = reportedChanges(result);
  return files ? drawFiles(files, true) : { blocks: [] };
}

/** @param named each block shows its file's name */
function drawFiles(changed: FileChange[], named: boolean) {
  const effort = newEffort();
  const drawn = changed.map((file) => ({ path: file.path, ...draw(file, effort) }));
  const shown = drawn.filter(({ lines }) => lines.length > 0);
  const blocks = shown.map(({ path, lines }): Block => {
    const language = findPathLanguage(path);
    return { type: "diff", lines, ...(language && { language }), ...(named && { path }) };
  });
  const counted = drawn.map(({ path, added, removed }) => ({ path, added, removed }));
  return { blocks, changes: sumCounts(counted), files: counted.filter(({ path }) => path !== "") };
}

/** A pending call's result may be in another part of the session. */
const isMade = ({ status }: { status: string }) => status === "ok" || status === "pending";

function getFilesTitle(files: FileChange[]): string {
  const [first, second] = files;
  if (files.length === 2 && first?.action === "delete" && second?.action === "write")
    return `${first.path} → ${second.path}`;
  return files.length > 1 ? formatQuantity(files.length, "file") : (first?.path ?? "");
}

function draw(file: FileChange, effort: Effort): DiffChange {
  const { pieces } = file;
  const [piece] = pieces;
  if (pieces.length === 1 && piece && "patch" in piece) return readPatch(piece.patch);
  const changes = pieces.map((one) => ("patch" in one ? readPatch(one.patch) : compare(one.before, one.after, effort)));
  return { ...joinChanges(changes), ...timesCounted(file, changes) };
}

function timesCounted({ pieces }: FileChange, changes: DiffChange[]) {
  return sumCounts(
    changes.map(({ added, removed }, at) => {
      const piece = pieces[at];
      const times = piece && "times" in piece ? (piece.times ?? 1) : 1;
      return { added: times * added, removed: times * removed };
    }),
  );
}

export const describeWrite: Describe = (input, outcome, call, result) => {
  const [change] = listChanges({ ...call, input }, result, true);
  if (input.command === "view" || change?.action !== "write") return describeEdit(input, outcome, call, result);
  const path = getInputPath(input);
  const text = field(input, "content", "contents", "file_text", "CodeContent", "text", "fileText");
  const counts = countChangedLines(change);
  return {
    title: path || firstLine(outcome.output) || "a file",
    ...(text !== "" && { amount: formatQuantity(countLines(text), "line"), changes: counts }),
    ...(isMade(outcome) && path && { files: [{ path, ...counts }] }),
    blocks: [
      ...(text === "" ? [] : [{ type: "code", text, language: findPathLanguage(path) } as const]),
      ...(outcome.status === "ok" && text !== "" ? [] : printed(outcome)),
    ],
  };
};

export const describeRead: Describe = (input, outcome) => {
  const path = getInputPath(input);
  const ok = outcome.status === "ok" && outcome.output.trim() !== "";
  const blocks = ok ? splitNumbered(outcome.output, findPathLanguage(path)) : printed(outcome);
  const lines = blocks.reduce((sum, block) => sum + (block.type === "code" ? countLines(block.text) : 0), 0);
  return {
    title: path || field(input, "input", "query", "text") || "a file",
    ...(ok && { amount: formatQuantity(lines, "line") }),
    blocks,
  };
};

const numbered = /^[ \t]*(\d{1,7})(?:→|\t)/;

/** The numbers become the first line's, which the page counts on; what is said before and after the lines stays. */
function splitNumbered(output: string, language: string): Block[] {
  const lines = output.replace(/\n$/, "").split("\n");
  const numbers = lines.map((line) => Number(numbered.exec(line)?.[1] ?? Number.NaN));
  const start = numbers.findIndex((number) => !Number.isNaN(number));
  const first = numbers[start] ?? 0;
  let end = start;
  while (end >= 0 && numbers[end] === first + end - start) end += 1;
  const isNumbered =
    start !== -1 && numbers.slice(end).every(Number.isNaN) && end - start >= start + lines.length - end;
  if (!isNumbered) return [{ type: "code", text: output, language }];
  const text = lines.slice(start, end).map((line) => line.replace(numbered, ""));
  return [
    ...said(lines.slice(0, start)),
    { type: "code", text: text.join("\n"), language, first },
    ...said(lines.slice(end)),
  ];
}

const said = (lines: string[]): Block[] =>
  lines.some((line) => line.trim() !== "") ? [{ type: "output", text: lines.join("\n").trim() }] : [];
