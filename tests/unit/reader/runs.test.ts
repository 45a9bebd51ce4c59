import { expect, test } from "vitest";
import { makeRows } from "#lib/transcript/rows";
import { message, render, renderBody } from "./rendering";

const tool = (name: string, input: object, output = "") => ({ tool: { name, input, output } });
const edit = (path: string, before = "a", after = "b") =>
  message({ metadata: tool("Edit", { file_path: path, old_string: before, new_string: after }, "ok") });

test("edits of one file in a row are one row with their sum, and each keeps its place", () => {
  const edits = [edit("src/a.ts", "a", "b\nc"), edit("src/a.ts", "d\ne", ""), edit("src/b.ts"), edit("src/a.ts")];
  const rows = makeRows(edits);
  expect(rows.map(({ kind }) => kind)).toEqual(["group", "edit", "edit"]);
  expect(rows[0]?.parts[0]).toMatchObject({ title: "src/a.ts", note: "2 edits", changes: { added: 2, removed: 3 } });
  expect(rows[0]?.positions).toEqual([edits[0]?.position, edits[1]?.position]);
  expect(rows[0]?.members).toHaveLength(2);
});

test("a failed edit stays out of the row of the others", () => {
  const failed = message({
    metadata: { tool: { name: "Edit", input: { file_path: "a.ts" }, output: "no", isError: true } },
  });
  expect(makeRows([edit("a.ts"), failed, edit("a.ts")]).map(({ kind }) => kind)).toEqual(["edit", "edit", "edit"]);
});

const hook = (name: string, text: string) =>
  message({ role: "system", metadata: { kind: "notice" }, content: `${name} hook\n${text}` });

test("what a hook printed is folded in the call that it ran for, also if calls ran at the same time", async () => {
  const call = (name: string, callId: string, input: object) =>
    message({ metadata: { tool: { name, callId, input } } });
  const result = (callId: string) => message({ role: "tool", content: "done", metadata: { result: { callId } } });
  const messages = [
    call("Edit", "1", { file_path: "a.ts", old_string: "a", new_string: "b" }),
    call("Bash", "2", { command: "npm test" }),
    result("1"),
    hook("PostToolUse:Edit", "Formatted a.ts"),
    result("2"),
    hook("SessionStart", "Welcome"),
  ];
  const [edited, ran, notice] = makeRows(messages);
  expect(edited?.positions).toEqual([0, 2, 3].map((at) => messages[at]?.position));
  expect(edited?.parts[0]?.blocks.at(-1)).toEqual({
    type: "markdown",
    text: "Formatted a.ts",
    fold: "PostToolUse:Edit hook",
  });
  expect(ran?.parts[0]?.blocks.some((block) => block.type === "markdown")).toBe(false);
  expect(notice?.kind).toBe("notice");
  expect(await render(messages)).toContain("<summary>PostToolUse:Edit hook</summary>");
});

const read = (output: string) => message({ metadata: tool("Read", { file_path: "notes.txt" }, output) });

test("a file's line numbers stand beside its lines and are no text, and what was said around them stays", async () => {
  const html = await renderBody([
    read("   743→one\n   744→\n   745→three 1→\n\n<system-reminder>Mind it</system-reminder>"),
  ]);
  expect(html).toContain(
    '<span data-n="743">one\n</span><span data-n="744">\n</span><span data-n="745">three 1→</span>',
  );
  expect(html).toContain("&lt;system-reminder&gt;Mind it");
  expect(html.replaceAll(/<[^>]*>/g, "")).not.toMatch(/74[345]/);
});

test("numbers that don't count on are text", async () => {
  expect(await renderBody([read("1→a\n5→b")])).toContain("1→a\n5→b");
});

test("escaped backticks in an exporter's block are backticks", async () => {
  const content = (line: string) =>
    `<tool-use data-tool-type="write" data-tool-name="search_replace"><details>\n<summary>Tool use: **search_replace** • Edit file: a.go</summary>\n\n\`\`\`diff\n@@ -1,1 +1,1 @@\n+${line}\n\`\`\`\n</details></tool-use>`;
  expect(await render([message({ content: content("Name string &#96;json&#96;") })])).toMatch(/`json`/);
  const raw = await render([message({ content: content("`x` &#96;") })]);
  expect(raw.replaceAll(/<[^>]*>/g, "")).toContain("`x` &amp;#96;");
});
