import type { Call, ToolResult } from "#lib/transcript/call";
import { countChange, type Effort, type LineCounts, newEffort } from "#lib/transcript/files/line-diff";
import {
  countPatch,
  type FilePatch,
  type Replacement,
  readFilePatches,
  readSearchBlocks,
  readUnifiedFiles,
} from "#lib/transcript/files/patches";
import { type Fields, field, getInputPath, isObject } from "#lib/transcript/tools/describe";
import { plainName } from "#lib/transcript/vocabulary";

type ChangedPiece = { patch: string } | (Replacement & { times?: number });

export type FileChange = { path: string; action: "edit" | "write" | "delete"; pieces: ChangedPiece[] };

const maxEdits = 200;

/** Neither input nor result says how many lines an overwritten file had. @param writes the tool writes whole files */
export function listChanges({ name, input }: Call, result: ToolResult | undefined, writes: boolean): FileChange[] {
  const plain = plainName(name);
  if (deleting.has(plain)) return listDeletedPaths(input).map((path) => ({ path, action: "delete", pieces: [] }));
  if (moving.has(plain)) return moved(input);
  const path = getInputPath(input);
  const command = typeof input.command === "string" ? input.command : "";
  if (command === "view") return [];
  if (command === "create" || (command === "write" && !writes)) return [written(path, input, result)];
  if (writes && !/^(?:str_?replace|insert|append|undo_edit)$/i.test(command)) return [written(path, input, result)];
  return edited(path, input, result);
}

const deleting = new Set("deletefile deletefilev2 removefile deletepath".split(" "));
const moving = new Set("movefile movepath renamefile".split(" "));

const listDeletedPaths = (input: Fields): string[] => {
  const list = [input.paths, input.file_paths, input.files].find(Array.isArray);
  return list ? list.filter((entry) => typeof entry === "string") : [getInputPath(input)];
};

function moved(input: Fields): FileChange[] {
  const from = field(input, "source_path", "source", "from", "oldPath", "old_path", "path");
  const to = field(input, "destination_path", "destination", "to", "newPath", "new_path", "target");
  if (!from || !to) return [];
  return [
    { path: from, action: "delete", pieces: [] },
    { path: to, action: "write", pieces: [] },
  ];
}

function written(path: string, input: Fields, result: ToolResult | undefined): FileChange {
  const after = field(input, "content", "contents", "file_text", "CodeContent", "text", "fileText");
  const piece = result?.patch?.trim() ? { patch: result.patch } : { before: "", after };
  return { path, action: input.mode === "append" ? "edit" : "write", pieces: [piece] };
}

function edited(path: string, input: Fields, result: ToolResult | undefined): FileChange[] {
  const reported = path === "" ? reportedChanges(result) : undefined;
  if (reported) return reported;
  const patch = field(input, "patch", "diff", "input", "patchText", "patch_text");
  const files = readFilePatches(patch) ?? (path === "" ? readUnifiedFiles(patch) : undefined);
  if (files) return files.flatMap(listPatchChanges);
  if (result?.patch?.trim()) return [{ path, action: "edit", pieces: [{ patch: result.patch }] }];
  const blocks = readSearchBlocks(patch);
  if (blocks) return [{ path, action: "edit", pieces: blocks }];
  if (patch.trim() !== "") return [{ path, action: "edit", pieces: [{ patch }] }];
  const edits = listedEdits(input);
  const byPath = Map.groupBy(edits, (edit) => getInputPath(edit) || path);
  return [...byPath].map(([of, some]) => ({
    path: of,
    action: "edit",
    pieces: some.map((edit) => replacementIn(edit, result?.output ?? "")),
  }));
}

export const reportedChanges = (result: ToolResult | undefined): FileChange[] | undefined =>
  result?.patch === undefined ? undefined : readUnifiedFiles(result.patch)?.flatMap(listPatchChanges);

export function listPatchChanges({ path, patch, action, from }: FilePatch): FileChange[] {
  const pieces = [{ patch }];
  if (from === undefined) return [{ path, action, pieces }];
  return [
    { path: from, action: "delete", pieces: [] },
    { path, action: "write", pieces },
  ];
}

function listedEdits(input: Fields): Fields[] {
  const { edits, replacements, changes, edit, ReplacementChunks } = input;
  const list = [edits, replacements, changes, edit, ReplacementChunks].find(Array.isArray);
  return (list ?? [isObject(edit) ? edit : input]).filter(isObject).slice(0, maxEdits);
}

function replacementIn(edit: Fields, output: string): ChangedPiece {
  const inserts = typeof edit.command === "string" && /^(?:insert|append)$/i.test(edit.command);
  const before = field(
    edit,
    "old_string",
    "oldString",
    "old_str",
    "oldStr",
    "oldText",
    "old",
    "search",
    "TargetContent",
  );
  const after = getTextField(
    edit,
    "new_string",
    "newString",
    "new_str",
    "newStr",
    "newText",
    "new",
    "ReplacementContent",
  );
  const times = countReplacements(edit, output);
  return {
    before: inserts ? "" : before,
    after: after ?? (before === "" ? (getTextField(edit, ...contents) ?? "") : (getTextField(edit, "replace") ?? "")),
    ...(times > 1 && { times }),
  };
}

const contents = ["new_source", "insert_text", "content", "text"];

const getTextField = (fields: Fields, ...keys: string[]) =>
  keys.map((key) => fields[key]).find((value): value is string => typeof value === "string");

const everywhere = ["replace_all", "replaceAll", "change_all", "allow_multiple", "AllowMultiple"];

function countReplacements(edit: Fields, output: string): number {
  if (!everywhere.some((key) => edit[key] === true) && !(Number(edit.expected_replacements) > 1)) return 1;
  const [, times] = /\b(\d{1,5}) (?:replacements?|occurrences?|instances?|matches)\b/.exec(output.slice(0, 1000)) ?? [];
  return Math.max(1, Number(times ?? 1));
}

/** @param effort shared by everything that is counted together */
export function countChangedLines({ pieces }: FileChange, effort: Effort = newEffort()): LineCounts {
  const sum = { added: 0, removed: 0 };
  for (const piece of pieces) {
    const times = "patch" in piece ? 1 : (piece.times ?? 1);
    const { added, removed } =
      "patch" in piece ? countPatch(piece.patch) : countChange(piece.before, piece.after, effort);
    sum.added += times * added;
    sum.removed += times * removed;
  }
  return sum;
}
