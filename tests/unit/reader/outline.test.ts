import { expect, test } from "vitest";
import { makeOutline, plainTitle } from "#lib/transcript/outline";
import { message } from "./rendering";

const tool = (name: string, input: object, output = "") => ({ tool: { name, input, output } });

test("the outline has turns, files with their changes, and failures with the call's words", () => {
  const messages = [
    message({ role: "user", content: "Fix it\nplease" }),
    message({ metadata: { tool: { name: "Bash", callId: "1", input: { command: "make" } } } }),
    message({ role: "tool", content: "Exit code 2", metadata: { result: { callId: "1" } } }),
    message({ metadata: tool("Edit", { file_path: "a.ts", old_string: "a", new_string: "b" }) }),
    message({ metadata: tool("Edit", { file_path: "a.ts", old_string: "c", new_string: "" }) }),
    message({ role: "user", content: "<command-name>/exit</command-name>" }),
  ];
  const at = messages.map(({ position }) => position);
  expect(makeOutline(messages)).toEqual({
    turns: [{ position: at[0], title: "Fix it", at: null, tools: 3, errors: 1 }],
    files: [
      {
        ...{ path: "a.ts", reads: 0, edits: 2, added: 1, removed: 2, firstPosition: at[3], lastPosition: at[4] },
        places: [
          { position: at[3], added: 1, removed: 1 },
          { position: at[4], added: 0, removed: 1 },
        ],
      },
    ],
    fileCount: 1,
    errors: [{ position: at[1], title: "make", message: "Exit code 2" }],
    agents: [],
    gaps: [],
    span: { first: at[0], last: at.at(-1) },
  });
});

test.each([
  [
    "Exit code 1\n> app@1.0.0 build\n\nsrc/a.ts(3,1): error TS2304: Cannot find name 'x'.",
    "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
  ],
  ["Exit code 1\n1 issues:\n* gofmt: 1", "1 issues:"],
  ["Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'b'", "KeyError: 'b'"],
  ["\u001b[31mFAIL\u001b[0m tests/a.test.ts\nAssertionError: expected 1 to be 2", "FAIL tests/a.test.ts"],
  ["<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."],
  ["Exit code 7", "Exit code 7"],
])("an error is named by the line that says why: %j", (output, why) => {
  const failed = message({ metadata: { tool: { name: "Bash", input: { command: "x" }, output, isError: true } } });
  expect(makeOutline([failed]).errors).toMatchObject([{ title: "x", message: why }]);
});

test("a turn is called by what the person wants, not by what was pasted before it", () => {
  const turns = [
    ["✖ pkg/a (13.2s)\n=== Skipped\n\nWhat's with the skipped tests?", "What's with the skipped tests?"],
    ["- ⚠️ Minor: silent failure.\n\nWe should fall back here.", "We should fall back here."],
    ["`go vet` and **all** tests, please", "go vet and all tests, please"],
    ["$ npm test\n> vitest", "$ npm test"],
    ["yes", "yes"],
    ["[Image #2]", "[Image #2]"],
  ];
  const { turns: found } = makeOutline(turns.map(([content]) => message({ role: "user", content: content ?? "" })));
  expect(found.map(({ title }) => title)).toEqual(turns.map(([, title]) => title));
});

test("a turn has its time, its tools and its failures; pauses and sub-agents have their places", () => {
  const when = (minute: number) => ({ createdAt: new Date(Date.UTC(2026, 2, 3, 14, minute)).toISOString() });
  const messages = [
    message({ role: "user", content: "First", ...when(0) }),
    message({ metadata: { tool: { name: "Agent", input: { description: "Look around" }, output: "" } }, ...when(1) }),
    message({ role: "user", content: "Second", ...when(31) }),
    message({ metadata: { tool: { name: "Bash", input: { command: "x" }, output: "Exit code 1", failed: true } } }),
    message({ content: "No", ...when(32) }),
  ];
  const [first, agent, second] = messages.map(({ position }) => position);
  const { turns, agents, gaps } = makeOutline(messages);
  const at = Date.UTC(2026, 2, 3, 14) / 1000;
  expect(turns).toEqual([
    { position: first, title: "First", at, tools: 1, errors: 0 },
    { position: second, title: "Second", at: at + 31 * 60, tools: 1, errors: 1 },
  ]);
  expect(agents).toEqual([{ position: agent, title: "Look around" }]);
  expect(gaps).toEqual([{ position: second, seconds: 1800 }]);
});

test.each([
  ["# A *plan* for `x`\n\nmore", "A *plan* for x"],
  ["Implement the following plan:\n\n# **Fast** lists", "Implement the following plan: Fast lists"],
  ["---\n```ts\nconst a_b = __dirname;\n```", "const a_b = __dirname;"],
  ["- see [the docs](https://example.org) and ![it](x.png)", "see the docs and it"],
  ["<command-args>\n> quoted", "quoted"],
  ["2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"],
  ["x".repeat(200), `${"x".repeat(119)}…`],
  ["***", ""],
])("a turn's title is plain words: %j", (content, title) => {
  expect(plainTitle(content)).toBe(title);
});

test("a file's path is that which the tool's answer names, whatever stands in backticks there", () => {
  const edited = (answer: string) =>
    message({
      content: `<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n<summary>Tool use: **Edit**</summary>\n\n${answer}\n</details></tool-use>`,
    });
  const messages = [
    edited("```text\nThe file /a b/x.go has been updated. Here's the result of running `cat -n` on it:\n 1→`c`\n```"),
    edited("The file /y.go has been updated. Here's the result of running `cat -n` on it: `d`"),
  ];
  expect(makeOutline(messages).files.map(({ path }) => path)).toEqual(["/a b/x.go", "/y.go"]);
});
