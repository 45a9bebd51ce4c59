import type { Call, ToolResult } from "#lib/transcript/call";
import type { Block, RowPart } from "#lib/transcript/message";
import type { Outcome } from "#lib/transcript/outcome";

export type Fields = Record<string, unknown>;

export type Describe = (input: Fields, outcome: Outcome, call: Call, result?: ToolResult) => Described;
type Described = Partial<RowPart> & { title: string; blocks: Block[] };

export const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

export function field(input: Fields, ...keys: string[]): string {
  for (const key of keys) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === "string"))
      return value.join(" ");
  }
  return "";
}

export const getInputPath = (input: Fields) =>
  field(
    input,
    "file_path",
    "path",
    "filePath",
    "filepath",
    "target_file",
    "targetFile",
    "relativeWorkspacePath",
    "absolute_path",
    "filename",
    "notebook_path",
    "TargetFile",
    "AbsolutePath",
    "dir_path",
    "target_directory",
    "DirectoryPath",
    "paths",
    "file",
  );

export const printed = ({ output }: Outcome): Block[] =>
  output.trim() === "" ? [] : [{ type: "output", text: output }];
