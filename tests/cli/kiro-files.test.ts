import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { kiro } from "../../cli/adapters/kiro/adapter.ts";
import { makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, toLines, told, writeBelow } from "./home.ts";

const start = Date.parse("2026-11-01T10:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

test("logs of the CLI have their entries, with what stands beside them; the database's sessions are not read twice", async () => {
  const entry = (kind: string, data: object) => ({ version: "v1", kind, data });
  const text = (data: string) => ({ kind: "text", data });
  const log = toLines(
    entry("Prompt", { message_id: "p1", content: [text("Run pwd")], meta: { timestamp: start / 1000 } }),
    entry("AssistantMessage", {
      content: [
        { kind: "thinking", data: { text: "pwd" } },
        { kind: "toolUse", data: { toolUseId: "t1", name: "shell", input: { command: "pwd" } } },
      ],
    }),
    entry("ToolResults", {
      content: [
        {
          kind: "toolResult",
          data: {
            toolUseId: "t1",
            status: "error",
            content: [{ kind: "json", data: { stdout: "/x", stderr: "no", exit_status: "exit status: 1" } }],
          },
        },
      ],
    }),
    entry("Compaction", { summary: "Ran pwd." }),
    entry("CancelledPrompt", {}),
    entry("Dream", {}),
  );
  const turns = [{ input_token_count: 900, output_token_count: 40 }, { input_token_count: 0 }];
  const about = {
    session_id: "l-1",
    cwd: "/code/api",
    title: "Paths",
    parent_session_id: "k-1",
    created_at: at(-1),
    session_state: {
      rts_model_state: { model_info: { model_id: "auto" } },
      conversation_metadata: { user_turn_metadatas: turns },
    },
  };
  const host = await makeHome({
    ".kiro/sessions/cli/l-1.jsonl": log,
    ".kiro/sessions/cli/l-1.json": JSON.stringify(about),
    ".kiro/sessions/cli/k-1.jsonl": log,
  });
  const db = makeDatabase(
    join(host.home, ".local/share/kiro-cli/data.sqlite3"),
    "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER)",
  );
  db.prepare("INSERT INTO conversations_v2 VALUES ('/code', 'k-1', ?, 1, 1)").run(
    JSON.stringify({
      history: [{ user: { content: { Prompt: { prompt: "Hi" } } }, assistant: { Response: { content: "Ho" } } }],
    }),
  );
  db.close();
  const { sessions, unhandled } = await parseAll(kiro, host);
  expect(sessions.map(({ sourceId }) => sourceId).sort()).toEqual(["k-1", "l-1"]);
  const found = sessions.find(({ sourceId }) => sourceId === "l-1");
  expect(told(found?.messages)).toEqual([
    ["user", "Run pwd", undefined],
    ["assistant", "pwd", "thinking"],
    ["assistant", "shell\npwd", undefined],
    ["tool", "/x\nno", { callId: "t1", isError: true, exitCode: 1 }],
    ["user", "Ran pwd.", "notice"],
    ["system", "The prompt was taken back.", "notice"],
  ]);
  expect(found?.ending).toEqual({
    model: "auto",
    title: "Paths",
    project: "api",
    createdAt: at(-1),
    metadata: { cwd: "/code/api", parent: "k-1", usage: { inputTokens: 900, outputTokens: 40 } },
  });
  expect(unhandled).toEqual(["Dream"]);
  const stamps = async () => (await discoverAll(kiro, host)).map(({ stamp }) => stamp);
  const before = await stamps();
  await writeBelow(host.home, ".kiro/sessions/cli/l-1.json", JSON.stringify({ ...about, title: "Another title" }));
  const after = await stamps();
  expect(after.map((stamp, index) => stamp === before[index]).sort()).toEqual([false, true]);
});

test("events of newer versions, and sessions of the editor with the logs of its executions, are read", async () => {
  const event = (payload: object) => ({ id: "e", timestamp: at(1), payload });
  const events = toLines(
    event({ type: "session_start", content: "You are Kiro." }),
    event({ type: "user", content: "Fix it", images: [{}] }),
    event({ type: "assistant", operationType: "Reasoning", content: "..." }),
    event({
      type: "tool_call",
      toolCallId: "c1",
      toolName: "str_replace",
      args: { path: "a.ts", oldStr: "a", newStr: "b" },
    }),
    event({ type: "tool_result", toolCallId: "c1", success: false, content: "No match" }),
    event({ type: "assistant", operationType: "Say", content: "Failed." }),
    event({ type: "session_metadata", key: "displayError", value: { message: "The model was busy." } }),
    event({ type: "session_metadata", key: "theme", value: { message: "It is dark." } }),
    event({ type: "new_thing" }),
  );
  const editor = ".config/Kiro/User/globalStorage/kiro.kiroagent";
  const project = createHash("sha256").update("/code/web").digest("hex").slice(0, 32);
  const session = {
    sessionId: "w-1",
    title: "Web",
    workspaceDirectory: "/code/web",
    history: [
      { message: { role: "user", content: [{ type: "text", text: "Build" }] } },
      { message: { role: "assistant", content: "On it." }, executionId: "x1" },
      { message: { role: "assistant", content: "Done." }, executionId: "gone" },
    ],
  };
  const actions = [
    {
      actionId: "a1",
      actionType: "runCommand",
      input: { command: "make" },
      output: { output: "ok", exitCode: 0 },
      emittedAt: start,
    },
    { actionId: "a2", actionType: "say", output: { message: "Built." } },
    { actionId: "a3", actionType: "odd" },
  ];
  const host = await makeHome({
    ".kiro/sessions/0a1b/sess_1/messages.jsonl": events,
    ".kiro/sessions/0a1b/sess_1/session.json": JSON.stringify({
      title: "Fix",
      workspacePaths: ["/code/api"],
      modelId: "claude-opus-4.5",
    }),
    [`${editor}/workspace-sessions/L2NvZGU/w-1.json`]: JSON.stringify(session),
    [`${editor}/workspace-sessions/L2NvZGU/sessions.json`]: JSON.stringify([
      { sessionId: "w-1", dateCreated: String(start) },
    ]),
    [`${editor}/${project}/414d/log`]: JSON.stringify({ executionId: "x1", actions }),
  });
  const { sessions, unhandled } = await parseAll(kiro, host);
  expect(
    sessions.map(({ sourceId, ending, messages }) => [
      sourceId,
      ending.title,
      ending.project,
      ending.createdAt,
      tally(messages),
    ]),
  ).toEqual([
    ["w-1", "Web", "web", at(0), { user: 1, call: 1, result: 1, assistant: 2 }],
    ["sess_1", "Fix", "api", at(1), { user: 1, call: 1, result: 1, assistant: 1, notice: 1 }],
  ]);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual([
    "Build",
    "runCommand\nmake",
    "ok",
    "Built.",
    "Done.",
  ]);
  expect(sessions[1]?.messages.find(({ role }) => role === "tool")?.metadata).toEqual({
    result: { callId: "c1", isError: true },
    uuid: "e",
  });
  expect(unhandled).toEqual(["action.odd", "new_thing"]);
});
