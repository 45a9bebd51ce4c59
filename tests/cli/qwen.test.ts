import { expect, test } from "vitest";
import { qwen } from "../../cli/adapters/qwen/adapter.ts";
import { makeHome, parseAll, toLines, told } from "./home.ts";

const id = "0199eeee-2222-7333-8444-555555555555";
const path = `.qwen/projects/-home-ada-code-web/chats/${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(qwen, await makeHome({ [path]: toLines(...records) }));

const at = "2026-11-01T10:00:00.000Z";
const record = (type: string, parts: object[], more: object = {}) => ({
  uuid: "u",
  sessionId: id,
  timestamp: at,
  type,
  cwd: "/home/ada/code/web",
  version: "0.21.13",
  gitBranch: "main",
  message: { role: type === "assistant" ? "model" : "user", parts },
  ...more,
});

test("a branch's record is a copy only where the session that it names has it", async () => {
  const answer = (number: number, more: object = {}) =>
    record("assistant", [{ text: `Answer ${number}` }], {
      uuid: `u${number}`,
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 10 ** number },
      ...more,
    });
  const copied = (number: number) => answer(number, { forkedFrom: { sessionId: "first", messageUuid: `u${number}` } });
  const branch = { [path]: toLines(copied(0), copied(1), answer(2)) };
  const getOutput = (usage: unknown) => (usage as { outputTokens: number }).outputTokens;
  const outputs = async (files: Record<string, string>) =>
    (await parseAll(qwen, await makeHome(files))).sessions.map(({ ending }) => getOutput(ending.metadata?.usage));
  expect(await outputs(branch)).toEqual([111]);
  // The first session's second answer was never written down there.
  const first = { [path.replace(`${id}.jsonl`, "archive/first.jsonl")]: toLines(answer(0)) };
  expect((await outputs({ ...branch, ...first })).toSorted()).toEqual([1, 110]);
});

test("a session has its turns, thoughts, calls with results, title and tokens", async () => {
  const { sessions, counts, unhandled } = await parse(
    record("user", [
      { text: "Look at it." },
      { text: "<qwen:user-prompt-submit-context>\nA hook's words.\n</qwen:user-prompt-submit-context>" },
    ]),
    record(
      "assistant",
      [{ text: "I should read.", thought: true }, { functionCall: { id: "c1", name: "edit", args: { path: "a" } } }],
      {
        model: "qwen3-coder",
        usageMetadata: {
          promptTokenCount: 110,
          cachedContentTokenCount: 100,
          candidatesTokenCount: 9,
          thoughtsTokenCount: 4,
        },
      },
    ),
    record("tool_result", [{ functionResponse: { id: "c1", name: "edit", response: { output: "done" } } }], {
      toolCallResult: { callId: "c1", status: "error", resultDisplay: { fileDiff: "@@ -1 +1 @@\n-a\n+b" } },
    }),
    record("user", [{ text: "Build finished." }], { subtype: "notification" }),
    record("system", [], { subtype: "ui_telemetry" }),
    record("system", [], { subtype: "custom_title", systemPayload: { customTitle: "A look" } }),
    record("system", [], { subtype: "chat_compression", systemPayload: { summary: "They looked." } }),
  );
  expect(sessions).toMatchObject([
    {
      source: "qwen-code",
      sourceId: id,
      messages: [
        { role: "user", content: "Look at it." },
        { role: "user", metadata: { kind: "notice" } },
        { content: "I should read.", tokenCount: 9, metadata: { kind: "thinking", model: "qwen3-coder" } },
        { content: "edit\na", metadata: { tool: { name: "edit", callId: "c1", input: { path: "a" } } } },
        {
          role: "tool",
          content: "done",
          metadata: { result: { callId: "c1", isError: true, patch: "@@ -1 +1 @@\n-a\n+b" } },
        },
        { role: "user", content: "Build finished.", metadata: { kind: "notice" } },
        { content: "They looked.", metadata: { kind: "notice" } },
      ],
      ending: {
        title: "A look",
        model: "qwen3-coder",
        project: "web",
        createdAt: at,
        metadata: {
          cwd: "/home/ada/code/web",
          branch: "main",
          agentVersion: "0.21.13",
          usage: { inputTokens: 10, outputTokens: 9, cacheReadTokens: 100, reasoningTokens: 4 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 7, skipped: 2, invalid: 0 }, []]);
});

test("the file's name is the id, whatever its records say; unknown records are counted", async () => {
  const { sessions, unhandled } = await parse(
    record("user", [{ text: "Hi" }, { video: {} }], { sessionId: "other" }),
    record("dream", []),
    record("system", [], { subtype: "new_thing", systemPayload: { displayText: "Something" } }),
  );
  expect(sessions[0]?.sourceId).toBe(id);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Something"]);
  expect(unhandled).toEqual(["content.video", "dream", "system.new_thing"]);
});

test("the user's words are one message, without the files that they name and what the program wrote in their place", async () => {
  const { sessions, unhandled } = await parse(
    record("user", [
      { text: "Explain @a.ts" },
      { text: " please." },
      { text: "\n--- Content from referenced files ---" },
      { text: "\nContent from @a.ts:\n" },
      { text: "let a = 1;" },
      { text: "\n--- End of content ---" },
    ]),
    record("user", [{ text: "Check the build." }], { subtype: "cron", provenance: "system" }),
    record("user", [{ text: "Go on with the goal." }], { subtype: "goal_runtime", provenance: "goal_runtime" }),
    record("user", [{ text: "And b.ts?" }], { subtype: "mid_turn_user_message" }),
    record("system", [], { subtype: "session_notes", systemPayload: { notes: "…" } }),
  );
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Explain @a.ts\n please.", undefined],
    [
      "user",
      "--- Content from referenced files ---\n\nContent from @a.ts:\n\nlet a = 1;\n\n--- End of content ---",
      "notice",
    ],
    ["user", "Check the build.", "notice"],
    ["user", "Go on with the goal.", "notice"],
    ["user", "And b.ts?", undefined],
  ]);
  expect(unhandled).toEqual([]);
});

test("a rewind removes nothing: a notice marks it", async () => {
  const { sessions, unhandled } = await parse(
    record("user", [{ text: "Try this." }]),
    record("assistant", [{ text: "Tried." }]),
    record("system", [], { subtype: "rewind", systemPayload: { targetUuid: "u" } }),
    record("user", [{ text: "Or this." }]),
  );
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Try this.", undefined],
    ["assistant", "Tried.", undefined],
    ["system", "The conversation went back to an earlier point.", "notice"],
    ["user", "Or this.", undefined],
  ]);
  expect(unhandled).toEqual([]);
});

test("only the folder of chats and its archive are read, without ledgers beside a session", async () => {
  const lines = toLines(record("user", [{ text: "Hi" }]));
  const chats = ".qwen/projects/x/chats";
  const home = await makeHome({
    [path]: lines,
    [`${chats}/archive/old.jsonl`]: lines,
    [`${chats}/old.prompts.jsonl`]: lines,
    ".qwen/projects/x/archive/a.jsonl": lines,
    ".qwen/projects/x/other/a.jsonl": lines,
    ".qwen/tmp/a.jsonl": lines,
  });
  expect((await parseAll(qwen, home)).sessions.map(({ sourceId }) => sourceId)).toEqual([id, "old"]);
});

test("a command's exit code is read below its output, and of no other tool", async () => {
  const output =
    "Command: make\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 2\nSignal: (none)\nProcess Group PGID: (none)";
  const result = (id: string, name: string) =>
    record("tool_result", [{ functionResponse: { id, name, response: { output } } }], { uuid: id });
  const { sessions } = await parse(
    record("user", [{ text: "Make it." }]),
    result("c1", "run_shell_command"),
    result("c2", "read_file"),
  );
  const results = sessions[0]?.messages.flatMap(({ metadata }) => (metadata?.result ? [metadata.result] : []));
  expect(results).toEqual([{ callId: "c1", exitCode: 2 }, { callId: "c2" }]);
});
