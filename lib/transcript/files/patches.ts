import type { LineCounts } from "#lib/transcript/files/line-diff";

export type PatchLine = { type: "added" | "removed" | "same" | "hunk"; text: string; at?: [old: number, now: number] };

const fileHeader =
  /^(?:\\ |diff --git |index [0-9a-f]+\.\.|Index: |={20,}$|(?:new|deleted) file mode |(?:old|new) mode |(?:dis)?similarity index |rename (?:from|to) |Binary files |\*\*\* )/;
const hunkHeader = /^@@(?: -(\d{1,9})(?:,(\d+))? \+(\d{1,9})(?:,(\d+))? @@)?/;

/** A hunk's length distinguishes a removed `-- x` from a file name. */
export function* patchLines(patch: string): Generator<PatchLine> {
  const lines = patch.replace(/\n$/, "").split("\n");
  let left = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    if (line.startsWith("@@")) {
      const [, old, before, now, after] = hunkHeader.exec(line) ?? [];
      // Codex's headings have no lengths and name no files.
      left = old === undefined ? Number.POSITIVE_INFINITY : Number(before ?? 0) + Number(after ?? 0);
      const text = line.replace(/^@@.*?@@ ?|^@@ ?/, "");
      yield { type: "hunk", text, ...(old && now && { at: [Number(old), Number(now)] }) };
      continue;
    }
    if (isNames(lines, at, left)) at += 1;
    else if (!fileHeader.test(line)) {
      const read = readLine(line);
      left -= read.type === "same" ? 2 : 1;
      yield read;
    }
  }
}

/** `--- a` and `+++ b` name files within a hunk only before the next heading. */
function isNames(lines: string[], at: number, left: number): boolean {
  if (!lines[at]?.startsWith("--- ") || !lines[at + 1]?.startsWith("+++ ")) return false;
  return left <= 0 || (lines[at + 2]?.startsWith("@@") ?? false);
}

function readLine(line: string): PatchLine {
  const type = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  return { type, text: type === "same" && !line.startsWith(" ") ? line : line.slice(1) };
}

export function countPatch(patch: string): LineCounts {
  const counts = { added: 0, removed: 0 };
  for (const { type } of patchLines(patch)) if (type === "added" || type === "removed") counts[type] += 1;
  return counts;
}

/** `from` is the previous name of a moved file. */
export type FilePatch = { path: string; patch: string; action: "edit" | "write" | "delete"; from?: string };

const maxFiles = 1000;

export function readFilePatches(text: string): FilePatch[] | undefined {
  if (!/^\*\*\* (?:Begin Patch|Add File|Update File|Delete File)/m.test(text)) return undefined;
  const parts = text.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m).slice(1, maxFiles + 1);
  return parts.map((part) => {
    const [, verb, name = ""] = /^\*\*\* (Add|Update|Delete) File: ([^\n]*)/.exec(part) ?? [];
    const patch = part.slice(part.indexOf("\n") + 1);
    const path = name.trim();
    const [, moved] = (verb === "Update" && /^\*\*\* Move to: ([^\n]+)/.exec(patch)) || [];
    if (moved) return { path: moved.trim(), patch, action: "edit", from: path };
    return { path, patch, action: verb === "Add" ? "write" : verb === "Delete" ? "delete" : "edit" };
  });
}

export function readUnifiedFiles(text: string): FilePatch[] | undefined {
  const parts = text.split(/^(?=--- [^\n]+\n\+\+\+ [^\n]+\n@@)/m).slice(0, maxFiles + 1);
  const files = parts.flatMap((part): FilePatch[] => {
    const [heading, old = "", now = ""] = /^--- ([^\n]+)\n\+\+\+ ([^\n]+)\n/.exec(part) ?? [];
    if (heading === undefined) return [];
    const [from, path] = [nameIn(old, "a/"), nameIn(now, "b/")];
    const patch = part.slice(heading.length);
    if (path === "/dev/null") return [{ path: from, patch, action: "delete" }];
    if (from === "/dev/null") return [{ path, patch, action: "write" }];
    return [{ path, patch, action: "edit", ...(from !== path && { from }) }];
  });
  return files.length > 0 ? files : undefined;
}

function nameIn(heading: string, prefix: string): string {
  const name = (heading.split("\t", 1)[0] ?? "").trim();
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

export type Replacement = { before: string; after: string };

const opening = /^(?:<{5,9}|-{5,9}) SEARCH>?\s*$/;
const closing = /^(?:>{5,9}|\+{5,9}) REPLACE>?\s*$/;

export function readSearchBlocks(text: string): Replacement[] | undefined {
  if (!/^(?:<{5,9}|-{5,9}) SEARCH/m.test(text)) return undefined;
  const blocks: Replacement[] = [];
  let before: string[] | undefined;
  let after: string[] | undefined;
  for (const line of text.split("\n")) {
    if (after && closing.test(line)) {
      blocks.push({ before: (before ?? []).join("\n"), after: after.join("\n") });
      [before, after] = [undefined, undefined];
    } else if (after) after.push(line);
    else if (before && /^={5,9}\s*$/.test(line)) after = [];
    else if (before) {
      if (!isAbout(line, before)) before.push(line);
    } else if (opening.test(line)) before = [];
  }
  return blocks;
}

const isAbout = (line: string, before: string[]) =>
  before.length === 0 && /^(?::(?:start|end)_line:.*|-{5,9}\s*)$/.test(line);
