import { expect, test } from "vitest";
import { readCommands } from "#lib/transcript/files/commands";
import { onlyLooks } from "#lib/transcript/quiet";
import { makeRows } from "#lib/transcript/rows";
import { message } from "./rendering";

const tool = (name: string, input: object, output = "") => ({ tool: { name, input, output } });

test("what only looks folds into one row with the thoughts between; failures and what changes something stay out", () => {
  const read = (path = "src/a.ts", output = "a") => message({ metadata: tool("Read", { file_path: path }, output) });
  const find = () => message({ metadata: tool("Grep", { pattern: "a" }, "a") });
  const run = (command: string) => message({ metadata: tool("Bash", { command }, "a") });
  const thought = () => message({ metadata: { kind: "thinking" }, content: "Hm." });
  const failed = read("a", "<tool_use_error>no</tool_use_error>");
  const rows = makeRows([
    read(),
    message({}),
    read("b/c.ts"),
    thought(),
    find(),
    run("ls -la"),
    failed,
    read(),
    read(),
  ]);
  expect(rows.map(({ kind }) => kind)).toEqual(["group", "read", "read", "read"]);
  expect(rows[0]?.parts[0]).toMatchObject({
    title: "2 reads, 1 search, 1 command, 1 thought",
    note: "a.ts, c.ts",
  });
  expect(rows[0]?.positions).toHaveLength(6);
  expect(makeRows([thought(), thought(), read()]).map(({ kind }) => kind)).toEqual(["thinking", "thinking", "read"]);
  expect(makeRows([read(), run("npm test"), read()])).toHaveLength(3);
});

test.each([
  ["cd api && git -C x log --oneline | head -5", true],
  ["grep -rn foo src 2>/dev/null; wc -l *.ts", true],
  ["sed -n '1,20p' a.ts", true],
  ["find . -name '*.ts' -type f", true],
  ["find . -name '*.tmp' -delete", false],
  ["find . -exec rm {} \\;", false],
  ["sed -i s/a/b/ a.ts", false],
  ["sed -n -i p a.ts", false],
  ["cat a > b", false],
  ["git checkout main", false],
  ["git log && rm a", false],
  ["ls $(rm a)", false],
  ["sort -o a a", false],
  ["", false],
])("%s only looks: %s", (command, looks) => {
  expect(onlyLooks(command)).toBe(looks);
});

test.each(["cat <<< x", "rm <<<", "rm a\u00a0b", "rm \u00a0b", "rm \fb"])(
  "a script that is not understood is left: %j",
  (script) => {
    expect(readCommands(script)).toBeUndefined();
  },
);

test("messages of a sub-agent that stand alone are its own, and no turn of the person's", () => {
  const told =
    "_**User - sidechain (2026-07-02 11:52:32Z)**_\n\nFind it\n\n_**Agent - sidechain (m 2026-07-02 11:52:33Z)**_\n\nFound.";
  const [row] = makeRows([message({ role: "user", content: told })]);
  expect(row).toMatchObject({ kind: "subagent", turnStart: false, parts: [{ title: "A sub-agent" }] });
  expect(row?.parts[0]?.blocks).toMatchObject([
    { type: "transcript", messages: [{ content: "Find it" }, { content: "Found." }] },
  ]);
  const launched = tool("Task", { description: "Explore" }, "Async agent launched successfully. (internal)");
  expect(makeRows([message({ metadata: launched })])[0]?.parts[0]?.blocks).toMatchObject([
    { fold: expect.any(String) },
  ]);
});

test("a command that an exporter lists as input is a command", () => {
  const content =
    '<tool-use data-tool-type="unknown" data-tool-name="shell"><details>\n<summary>Tool use: **shell**</summary>\n**Input:**\n\n- command: `[bash -lc go vet ./pkg/...]`\n- workdir: `/work`\n\n**Result:**\n\n```\nok\n```\n</details></tool-use>';
  const [row] = makeRows([message({ content })]);
  expect(row?.parts[0]).toMatchObject({ kind: "shell", title: "go vet ./pkg/...", amount: "1 line" });
});
