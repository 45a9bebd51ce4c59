import { describe, expect, test } from "vitest";
import type { PartKind, ReaderMessage } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";
import { message } from "./rendering";

const first = (fields: Partial<ReaderMessage>) => makeRows([message(fields)])[0];
const tool = (name: string, input: object, output = "") => ({ tool: { name, input, output } });
const wrapped = (type: string, name: string, inner: string) =>
  `<tool-use data-tool-type="${type}" data-tool-name="${name}"><details>\n<summary>Tool use: **${name}**</summary>\n${inner}\n</details></tool-use>`;

describe("the kind of a message", () => {
  test.each<[PartKind, Partial<ReaderMessage>]>([
    ["user", { role: "user", content: "Please look." }],
    ["assistant", { content: "I look." }],
    ["assistant", { role: null, content: "Who says this?" }],
    ["notice", { role: "system", content: "You are an agent." }],
    ["thinking", { metadata: { kind: "thinking" }, content: "Hm." }],
    ["thinking", { content: "<think><details><summary>Thought Process</summary>\nHm.\n</details></think>" }],
    ["thinking", { metadata: { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] } }],
    ["shell", { content: wrapped("shell", "Bash", "`ls`") }],
    ["shell", { content: "Tool use: **exec_command** `ls`" }],
    ["shell", { metadata: { type: "function_call", name: "shell_command", call_id: "1" } }],
    ["edit", { metadata: tool("Edit", { file_path: "a", old_string: "a", new_string: "b" }) }],
    ["edit", { content: wrapped("write", "SomethingNew", "") }],
    ["write", { metadata: tool("write_file", { path: "a", content: "b" }) }],
    ["write", { metadata: tool("apply_patch", { input: "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch" }) }],
    ["read", { metadata: { toolCalls: [{ name: "read_file", args: { file_path: "main.go" }, status: "success" }] } }],
    ["search", { metadata: tool("Grep", { pattern: "x" }) }],
    ["web", { content: wrapped("read", "WebFetch", " `https://example.org/a`") }],
    ["question", { metadata: tool("AskUserQuestion", {}) }],
    ["plan", { metadata: tool("ExitPlanMode", { plan: "# Plan" }) }],
    ["tasks", { metadata: tool("update_plan", { plan: [{ step: "a", status: "completed" }] }) }],
    ["subagent", { metadata: tool("Task", { description: "a" }) }],
    ["command", { role: "user", content: "<command-name>/exit</command-name>" }],
    ["notice", { role: "user", content: "[Request interrupted by user for tool use]" }],
    ["notice", { role: "user", content: "<task-notification>\n<summary>It ended</summary>\n</task-notification>" }],
    ["unknown", { metadata: tool("mcp__tides__height", { at: "noon" }) }],
    ["plan", { metadata: { kind: "plan", tool: "mcp__tides__height" } }],
  ])("%s: %o", (kind, fields) => {
    expect(first(fields)?.kind).toBe(kind);
  });

  test("a wrapper within a tool's output ends nothing: the whole output is the tool's", () => {
    const quoted =
      '```text\n  1→<tool-use data-tool-type="a" data-tool-name="b">\n  2→</details></tool-use>\n  3→text\n```';
    const row = first({ content: wrapped("read", "Read", `\`a.md\`\n\n${quoted}`) });
    expect(row?.parts).toMatchObject([{ kind: "read", title: "a.md", amount: "3 lines" }]);
  });
});

describe("what a tool's line says", () => {
  test.each<[string, Partial<ReaderMessage>, object]>([
    [
      "Claude's exit code",
      { content: wrapped("shell", "Bash", "Look\n\n`ls x`\n\n```text\nExit code 2\nno x\n```") },
      {
        title: "ls x",
        note: "Look",
        status: "failed",
        exitCode: 2,
        blocks: [{ text: "ls x" }, { type: "output", text: "no x" }],
      },
    ],
    [
      "Codex' header",
      {
        content:
          "Tool use: **exec_command** `ls`\n```\nChunk ID: 1\nWall time: 2.5 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\na\n```",
      },
      { status: "ok", exitCode: 0, durationMs: 2500, blocks: [{ text: "ls" }, { text: "a" }] },
    ],
    [
      "Codex' JSON",
      {
        metadata: {
          type: "function_call_output",
          call_id: "1",
          output: '{"output":"a","metadata":{"exit_code":1,"duration_seconds":0.5}}',
        },
      },
      { status: "failed", exitCode: 1, durationMs: 500 },
    ],
    ["a list as a command", { metadata: tool("shell", { command: ["bash", "-lc", "ls -l"] }) }, { title: "ls -l" }],
    [
      "a declined tool",
      { metadata: tool("Bash", { command: "rm" }, "The user doesn't want to proceed with this tool use.") },
      { status: "rejected" },
    ],
    [
      "what an edit changed",
      { metadata: tool("Edit", { file_path: "a.ts", old_string: "a\nb\nc", new_string: "a\nB\nc\nd" }) },
      { title: "a.ts", changes: { added: 2, removed: 1 } },
    ],
    [
      "several edits",
      {
        metadata: tool("MultiEdit", {
          file_path: "a",
          edits: [
            { old_string: "a", new_string: "b" },
            { old_string: "", new_string: "c\n" },
          ],
        }),
      },
      { changes: { added: 2, removed: 1 } },
    ],
    [
      "a patch of several files",
      {
        metadata: tool("apply_patch", {
          input: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: b\n+z\n*** End Patch",
        }),
      },
      { kind: "edit", title: "2 files", changes: { added: 2, removed: 1 } },
    ],
    [
      "a diff in the content",
      { content: wrapped("write", "apply_patch", "**Update: `a.md`**\n\n```diff\n@@\n-a\n+b\n+c\n```") },
      { title: "a.md", changes: { added: 2, removed: 1 } },
    ],
    [
      "a file with line numbers",
      { metadata: tool("Read", { file_path: "a.ts" }, "     1→a\n     2→b") },
      { amount: "2 lines", blocks: [{ type: "code", language: "typescript", text: "a\nb" }] },
    ],
    [
      "a search without hits",
      { metadata: tool("Grep", { pattern: "x", path: "src" }, "No matches found") },
      { note: "in src", amount: "no hits" },
    ],
    [
      "where the web was read",
      { metadata: tool("WebFetch", { url: "https://example.org/a" }) },
      { note: "example.org" },
    ],
    [
      "tasks done",
      { content: wrapped("task", "TodoWrite", "**Agent task list:**\n- [X] a\n- [⚡] b\n- [ ] c") },
      { title: "1 of 3 tasks done", blocks: [{ items: [{ state: "done" }, { state: "doing" }, { state: "open" }] }] },
    ],
    ["an unknown tool's arguments", { metadata: tool("odd", { a: 1, b: "two", c: 3 }) }, { note: "a: 1, b: two" }],
    [
      "an exporter's list of arguments",
      { content: wrapped("unknown", "Odd", "\n**Input:**\n\n- a: `1`\n- b: `two`\n") },
      { note: "a: 1, b: two" },
    ],
  ])("%s", (_, fields, expected) => {
    expect(first(fields)?.parts[0]).toMatchObject(expected);
  });
});

describe("rows", () => {
  const call = (callId: string, name = "Bash") =>
    message({ metadata: { tool: { name, callId, input: { command: callId } } } });
  const result = (callId: string, output = "done") =>
    message({ role: "tool", content: output, metadata: { result: { callId } } });

  test("a result is shown at its call, whatever is between them, and both positions lead there", () => {
    const messages = [
      call("a"),
      call("b"),
      message({ content: "Meanwhile." }),
      result("b"),
      result("a", "Exit code 1\nno"),
    ];
    const [a, b, words] = messages.map(({ position }) => position);
    expect(makeRows(messages)).toMatchObject([
      { positions: [a, messages[4]?.position], failed: true },
      { positions: [b, messages[3]?.position], failed: false },
      { positions: [words] },
    ]);
  });

  test("a call whose content says it in words still waits for its result", () => {
    const tool = { name: "Bash", callId: "a", input: { command: "npm test" }, content: "call" };
    const messages = [message({ content: "Bash\nnpm test", metadata: { tool } }), result("a", "4 passed")];
    const [row, ...others] = makeRows(messages);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ kind: "shell", positions: messages.map(({ position }) => position) });
    expect(JSON.stringify(row?.parts)).toContain("4 passed");
    expect(makeRows(messages.slice(0, 1))[0]?.parts[0]?.status).toBe("pending");
  });

  test("a call without a result and a result without a call both show", () => {
    const rows = makeRows([call("a"), result("b")]);
    expect(rows.map(({ parts }) => parts[0]?.status)).toEqual(["pending", "ok"]);
  });

  test("Claude Code's blocks in one message are parts of one row, paired with the results of the next", () => {
    const rows = makeRows([
      message({
        content: "",
        metadata: {
          message: {
            content: [
              { type: "thinking", thinking: "Hm." },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "1", name: "Bash", input: { command: "ls" } },
              { type: "tool_use", id: "2", name: "Read", input: { file_path: "a" } },
            ],
          },
        },
      }),
      message({
        role: "user",
        content: "",
        metadata: {
          message: {
            content: [
              { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "a" }] },
              { type: "tool_result", tool_use_id: "2", content: "b", is_error: true },
            ],
          },
        },
      }),
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.positions).toHaveLength(2);
    expect(rows[0]?.parts.map(({ kind, status }) => [kind, status])).toEqual([
      ["thinking", undefined],
      ["assistant", undefined],
      ["shell", "ok"],
      ["read", "failed"],
    ]);
  });

  test("empty messages lead to the next row, the last of them to the row before", () => {
    const messages = ["", "a", " \n", "", "b", ""].map((content) => message({ content }));
    const at = messages.map(({ position }) => position);
    expect(makeRows(messages).map(({ position, positions }) => [position, positions])).toEqual([
      [at[1], [at[0], at[1]]],
      [at[4], [at[2], at[3], at[4], at[5]]],
    ]);
    const [only, ...more] = makeRows([message({}), message({})]);
    expect(only).toMatchObject({ kind: "notice", positions: { length: 2 } });
    expect(more).toEqual([]);
  });

  test("a command's output is shown in the command", () => {
    const [row, ...more] = makeRows([
      message({ role: "user", content: "<command-name>/model</command-name><command-args>fast</command-args>" }),
      message({ role: "user", content: "<local-command-stdout>Set</local-command-stdout>" }),
    ]);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      kind: "command",
      parts: [{ title: "/model fast", blocks: [{ type: "output", text: "Set" }] }],
    });
  });

  test("the talk is what the person said, each turn's last answer, questions and failures", () => {
    const edit = message({ metadata: tool("Edit", { file_path: "a", old_string: "a", new_string: "b\nc" }) });
    const rows = makeRows([
      message({ role: "user", content: "One" }),
      message({ content: "I begin." }),
      edit,
      message({ content: "Done." }),
      message({ metadata: tool("Bash", { command: "x" }, "Exit code 1") }),
      message({ role: "user", content: "Two" }),
      message({ metadata: tool("AskUserQuestion", { question: "Which?" }) }),
    ]);
    expect(rows.map(({ talk }) => talk)).toEqual([true, false, false, true, true, true, true]);
    expect(rows[3]?.turnChanges).toEqual({ files: 1, added: 2, removed: 1 });
  });

  test("a model shows when it changes, and the time since the row before is known", () => {
    const rows = makeRows([
      message({ content: "a", metadata: { model: "m1" }, createdAt: "2026-01-01T10:00:00.000Z" }),
      message({ content: "b", metadata: { model: "m1" }, createdAt: "2026-01-01T10:10:00.000Z" }),
      message({ content: "c", metadata: { model: "m2" } }),
    ]);
    expect(rows.map(({ model, gapBefore }) => [model, gapBefore?.seconds])).toEqual([
      ["m1", undefined],
      [null, 600],
      ["m2", undefined],
    ]);
  });
});
