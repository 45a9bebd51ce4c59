import { expect, test } from "vitest";
import { makeCombiner, maxCombined, toFileChange } from "#lib/transcript/files/combined";
import { newEffort } from "#lib/transcript/files/line-diff";
import type { ReaderMessage } from "#lib/transcript/message";
import { drawChanges } from "../../../app/(app)/traces/[id]/changes/draw-changes";
import { message } from "./rendering";

const tool = (name: string, input: object, output = "done") => message({ metadata: { tool: { name, input, output } } });
const edit = (file_path: string, old_string: string, new_string: string) =>
  tool("Edit", { file_path, old_string, new_string });

function combine(messages: ReaderMessage[], metadata: Record<string, unknown> | null = { cwd: "/p" }) {
  const combiner = makeCombiner({ source: "claude-code", metadata });
  for (const one of messages) combiner.add(one);
  return combiner.result();
}

const toLines = (messages: ReaderMessage[]) =>
  combine(messages).files.map((file) => [
    file.path,
    toFileChange(file, newEffort()).lines.map(({ type, text }) => `${type} ${text}`),
  ]);

test("what was changed twice is one change, and what came and went is none", () => {
  expect(
    toLines([
      edit("/p/a.ts", "const a = 1;\nconst b = 1;", "const a = 2;\nconst b = 1;"),
      edit("/p/a.ts", "const a = 2;", "const a = 3;"),
      edit("/p/b.ts", "x", "y"),
      edit("/p/b.ts", "y", "x"),
      edit("/p/b.ts", "one", "two"),
    ]),
  ).toEqual([
    ["a.ts", ["removed const a = 1;", "added const a = 3;", "same const b = 1;"]],
    ["b.ts", ["removed one", "added two"]],
  ]);
});

test("a file that was written and then edited is whole, with its numbers; one deleted again is not there", async () => {
  const { files } = combine([
    tool("Write", { file_path: "/p/new.ts", content: "a\nb\nc\n" }),
    edit("/p/new.ts", "b", "B"),
    tool("Write", { file_path: "/p/gone.ts", content: "a" }),
    tool("delete_file", { path: "/p/gone.ts" }),
    tool("delete_file", { path: "/p/old.ts" }),
  ]);
  expect(files.map(({ path, action }) => [path, action])).toEqual([
    ["new.ts", "write"],
    ["old.ts", "delete"],
  ]);
  const { html, files: counted } = await drawChanges({ files, traceId: "t", alone: false });
  expect(counted[0]).toEqual({ path: "new.ts", added: 3, removed: 0 });
  expect(html).toContain('<ins data-n="3">');
});

test("hunks of patches keep their numbers, in the order of the file", () => {
  const patch = (line: number, old: string, now: string) =>
    tool("Edit", { file_path: "/p/a.txt", patch: `@@ -${line},1 +${line},1 @@\n-${old}\n+${now}` });
  const [file] = combine([patch(90, "late", "later"), patch(7, "soon", "sooner")]).files;
  expect(file && toFileChange(file, newEffort()).lines.flatMap(({ at }) => (at ? [at] : []))).toEqual([
    [7, 7],
    [90, 90],
  ]);
});

test("failed calls change nothing, and what is too much is left out and said", async () => {
  expect(combine([tool("Edit", { file_path: "/p/a", old_string: "a", new_string: "b" }, "Error: no")]).files).toEqual(
    [],
  );
  const many = Array.from({ length: maxCombined.files + 5 }, (_, at) => edit(`/p/${at}.ts`, "a", `b${at}`));
  const combined = combine(many);
  expect(combined.files).toHaveLength(maxCombined.files);
  expect(combined.cut).toBe(true);
  const long = Array.from({ length: 3000 }, (_, at) => `line ${at}`).join("\n");
  const { files } = combine([tool("Write", { file_path: "/p/long.ts", content: long })]);
  const page = await drawChanges({ files, traceId: "t", alone: false });
  expect(page.html).toContain("2,601 more lines");
  expect((await drawChanges({ files, traceId: "t", alone: true })).html).toContain("line 2999");
});
