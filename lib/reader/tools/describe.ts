import type { Call, Result } from "#lib/reader/call";
import type { Block, Part } from "#lib/reader/message";
import type { Outcome } from "#lib/reader/outcome";

export type Fields = Record<string, unknown>;

/** What is shown of a call with this input, beside what all tools have in common. */
export type Describe = (input: Fields, outcome: Outcome, call: Call, result?: Result) => Described;
type Described = Partial<Part> & { title: string; blocks: Block[] };

export const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** The text of the first of some fields that has one. */
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
