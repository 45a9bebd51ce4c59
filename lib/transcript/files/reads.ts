import type { Call, ToolResult } from "#lib/transcript/call";
import { maxWritten } from "#lib/transcript/files/paths";
import type { PartKind } from "#lib/transcript/message";
import { type Fields, getInputPath, isObject } from "#lib/transcript/tools/describe";
import { plainName } from "#lib/transcript/vocabulary";

const listing = new Set(
  `listdir listdirectory listfiles ls listcodedefinitionnames listdirv2 listfilestoplevel listfilesrecursive
  copilotlistdirectory`.split(/\s+/),
);

const maxFiles = 1000;

export function listReads({ name, input }: Call, result: ToolResult | undefined, kind: PartKind): string[] {
  const views = kind === "read" ? !listing.has(plainName(name)) : kind !== "shell" && input.command === "view";
  if (!views || folderListed.test(result?.output.slice(0, 2000) ?? "")) return [];
  return pathsIn(input).filter(isPath).slice(0, maxFiles);
}

const folderListed = /<type>directory<\/type>|^Here(?:'|’)s the files and directories up to|^Directory: /;

function pathsIn(input: Fields): string[] {
  const list = [input.paths, input.file_paths, input.files, input.operations].find(Array.isArray);
  if (!list) return [getInputPath(input)];
  return list.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    return isObject(entry) && !/^(?:directory|search)$/i.test(String(entry.mode)) ? [getInputPath(entry)] : [];
  });
}

const isPath = (path: string) =>
  path !== "" &&
  path.length <= maxWritten &&
  !/[*?]|\{[^}]*,/.test(path) &&
  (!/\s/.test(path) || /[\\/]|\.\w{1,8}$/.test(path));
