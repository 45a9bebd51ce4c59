import { type Change, compare, joinChanges, readFilePatches, readPatch, sumOf } from "#lib/reader/changes";
import type { Block } from "#lib/reader/message";
import { countLines, countOf, firstLine } from "#lib/reader/text";
import { type Describe, type Fields, field, isObject, pathOf, printed } from "#lib/reader/tools/describe";
import { languageOfPath } from "#lib/reader/vocabulary";

// The tools that change and read files.

export const describeEdit: Describe = (input, outcome, _call, result) => {
  const patch = field(input, "patch", "diff", "input", "patchText");
  const files = readFilePatches(patch)?.map((file) => ({ ...file, change: readPatch(file.patch) })) ?? [
    { path: pathOf(input), change: editOf(input, result?.patch ?? patch), isNew: false },
  ];
  const shown = files.filter(({ change }) => change.lines.length > 0);
  const blocks = shown.map(
    ({ path, change: { lines } }): Block => ({
      type: "diff",
      lines,
      ...(files.length > 1 && { path }),
    }),
  );
  const counted = files.map(({ path, change: { added, removed } }) => ({ path, added, removed }));
  return {
    kind: files.every(({ isNew }) => isNew) ? "write" : "edit",
    title: files.length > 1 ? countOf(files.length, "file") : files[0]?.path || firstLine(outcome.output) || "a file",
    ...(shown.length > 0 && { changes: sumOf(counted) }),
    ...(outcome.status !== "rejected" && { files: counted.filter(({ path }) => path !== "") }),
    blocks: [...blocks, ...(outcome.status === "ok" && shown.length > 0 ? [] : printed(outcome))],
  };
};

function editOf(input: Fields, patch: string): Change {
  if (patch.trim() !== "") return readPatch(patch);
  const edits = [input.edits, input.replacements, input.ReplacementChunks].find(Array.isArray) ?? [input];
  return joinChanges(
    edits
      .filter(isObject)
      .slice(0, 200)
      .map((edit) =>
        compare(
          field(edit, "old_string", "oldString", "old_str", "oldText", "TargetContent"),
          field(edit, "new_string", "newString", "new_str", "newText", "ReplacementContent", "new_source"),
        ),
      ),
  );
}

export const describeWrite: Describe = (input, outcome) => {
  const path = pathOf(input);
  const text = field(input, "content", "contents", "file_text", "CodeContent", "text", "fileText");
  const added = countLines(text);
  return {
    title: path || firstLine(outcome.output) || "a file",
    ...(text !== "" && { amount: countOf(added, "line"), changes: { added, removed: 0 } }),
    ...(outcome.status !== "rejected" && path && { files: [{ path, added, removed: 0 }] }),
    blocks: [
      ...(text === "" ? [] : [{ type: "code", text, language: languageOfPath(path) } as const]),
      ...(outcome.status === "ok" && text !== "" ? [] : printed(outcome)),
    ],
  };
};

/** Line numbers before an arrow or a tab, as tools print files. */
const numbered = /^[ \t]*\d+(?:→|\t)/;

export const describeRead: Describe = (input, outcome) => {
  const path = pathOf(input);
  const lines = outcome.output === "" ? [] : outcome.output.replace(/\n$/, "").split("\n");
  const bare = lines.length > 0 && lines.every((line) => numbered.test(line));
  const text = bare ? lines.map((line) => line.replace(numbered, "")).join("\n") : outcome.output;
  const ok = outcome.status === "ok" && text.trim() !== "";
  return {
    title: path || field(input, "input", "query", "text") || "a file",
    ...(ok && { amount: countOf(countLines(text), "line") }),
    blocks: ok ? [{ type: "code", text, language: languageOfPath(path) }] : printed(outcome),
  };
};
