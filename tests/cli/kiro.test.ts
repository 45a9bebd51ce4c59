import { join } from "node:path";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { amazonQ, kiro } from "../../cli/adapters/kiro/adapter.ts";
import { makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told } from "./home.ts";

const start = Date.parse("2026-11-01T10:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

const environment = { env_state: { current_working_directory: "/code/api" } };
const prompt = (text: string) => ({
  env_context: environment,
  content: { Prompt: { prompt: text } },
  timestamp: at(1),
});
const results = (content: unknown[], status = "Success") => ({
  env_context: environment,
  content: { ToolUseResults: { tool_use_results: [{ tool_use_id: "t1", content, status }] } },
  timestamp: null,
});
const used = {
  ToolUse: {
    message_id: "m1",
    content: "Looking.",
    tool_uses: [{ id: "t1", name: "execute_bash", args: { command: "ls" } }],
  },
};
const answered = { Response: { message_id: "m2", content: "One.", thinking: { reasoningText: { text: "Count." } } } };
const request = (seconds: number) => ({
  stream_end_timestamp_ms: start + seconds * 1000,
  model_id: "claude-opus-4.5",
  request_id: "r1",
});
const history = [
  { user: prompt("List."), assistant: used, request_metadata: request(2) },
  {
    user: results([{ Json: { exit_status: "0", stdout: "a.ts", stderr: "" } }]),
    assistant: answered,
    request_metadata: request(3),
  },
];

const newTable = `CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER,
  PRIMARY KEY (key, conversation_id));`;
const oldTable = "CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);";
const database = (host: Host, schema = newTable, program = "kiro-cli") =>
  makeDatabase(join(host.home, ".local/share", program, "data.sqlite3"), schema);
type Database = ReturnType<typeof database>;

function put(db: Database, id: string, value: unknown, key = "/code/api", updated = start + 9000): void {
  const text = typeof value === "string" ? value : JSON.stringify({ conversation_id: id, history: value });
  db.prepare("INSERT OR REPLACE INTO conversations_v2 VALUES (?, ?, ?, ?, ?)").run(key, id, text, start, updated);
}

test("a conversation of the CLI's database has its turns, calls with results, times and models", async () => {
  const host = await makeHome();
  const db = database(host);
  put(db, "k-1", history);
  const { sessions, counts, unhandled } = await parseAll(kiro, host);
  db.close();
  const model = "claude-opus-4.5";
  expect(sessions).toEqual([
    {
      source: "kiro",
      sourceId: "k-1",
      messages: [
        { role: "user", content: "List.", createdAt: at(1) },
        { role: "assistant", content: "Looking.", createdAt: at(2), metadata: { model, requestId: "r1" } },
        {
          role: "assistant",
          content: "execute_bash\nls",
          createdAt: at(2),
          metadata: { tool: { name: "execute_bash", callId: "t1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", metadata: { result: { callId: "t1", exitCode: 0 } } },
        { role: "assistant", content: "Count.", createdAt: at(3), metadata: { kind: "thinking", requestId: "r1" } },
        { role: "assistant", content: "One.", createdAt: at(3) },
      ],
      ending: { model, project: "api", createdAt: at(0), metadata: { cwd: "/code/api" } },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 3, skipped: 1, invalid: 0 }, []]);
});

test("counts by kind are those of the rows; a conversation under two folders is its newest row", async () => {
  const host = await makeHome();
  const db = database(host);
  put(db, "a", [...history, ...history, ...history]);
  put(db, "b", history, "/code/older", start);
  put(db, "b", history.slice(0, 1), "/code/newer");
  const before = await discoverAll(kiro, host);
  const { sessions } = await parseAll(kiro, host);
  const count = (path: string) =>
    db
      .prepare(
        `SELECT count(*) AS n FROM conversations_v2, json_each(conversations_v2.value, '$.history') AS one WHERE conversation_id = 'a' AND json_extract(one.value, '${path}') IS NOT NULL`,
      )
      .get()?.n;
  expect(tally(sessions[0]?.messages ?? [])).toEqual({
    user: count("$.user.content.Prompt"),
    result: count("$.user.content.ToolUseResults"),
    call: count("$.assistant.ToolUse"),
    thinking: count("$.assistant.Response"),
    assistant: 6,
  });
  expect([sessions.length, sessions[1]?.ending.project, sessions[1]?.messages.length]).toEqual([2, "newer", 3]);
  put(db, "b", history, "/code/newer", start + 10_000);
  const after = await discoverAll(kiro, host);
  expect(after.map(({ stamp }, index) => stamp === before[index]?.stamp)).toEqual([true, false]);
  db.close();
});

test("Amazon Q, and the CLI's older table, have the latest conversation of each folder", async () => {
  const host = await makeHome();
  const value = JSON.stringify({ conversation_id: "q-1", latest_summary: ["So far: nothing.", {}], history });
  for (const program of ["amazon-q", "kiro-cli"]) {
    const db = database(host, oldTable, program);
    db.prepare("INSERT INTO conversations VALUES ('/code/web', ?)").run(value);
    db.close();
  }
  for (const [adapter, source] of [
    [amazonQ, "amazon-q"],
    [kiro, "kiro"],
  ] as const) {
    const { sessions } = await parseAll(adapter, host);
    expect(sessions.map((one) => [one.source, one.sourceId, one.ending.project, one.messages.length])).toEqual([
      [source, "q-1", "web", 7],
    ]);
    expect(sessions[0]?.messages[0]).toMatchObject({ content: "So far: nothing.", metadata: { kind: "notice" } });
    // A small reading of the same value.
    const count = (word: string) => value.split(word).length - 1;
    expect(tally(sessions[0]?.messages ?? [])).toEqual({
      notice: count("So far"),
      user: count('"Prompt":'),
      thinking: count('"reasoningText":'),
      call: count('"tool_uses":'),
      result: count('"tool_use_results":'),
      assistant: count('"message_id":'),
    });
  }
});

test("cancelled calls, added context and images are told apart; the unknown and the damaged are counted", async () => {
  const host = await makeHome();
  const db = database(host);
  const cancelled = {
    CancelledToolUses: {
      prompt: "Stop",
      tool_use_results: [{ tool_use_id: "t9", content: [{ Text: "Cancelled" }, { Odd: 1 }], status: "Error" }],
    },
  };
  put(db, "drift", [
    { user: { ...prompt("Look"), additional_context: "Hook said so.", images: [{}] }, assistant: { Dream: {} } },
    { user: { content: cancelled }, assistant: answered },
    7,
    {},
  ]);
  put(db, "broken", "{");
  const { sessions, unhandled, counts } = await parseAll(kiro, host);
  db.close();
  expect(told(sessions[0]?.messages, ["kind", "result", "attachments"])).toEqual([
    ["user", "Hook said so.", "notice"],
    ["user", "Look", [{ type: "image" }]],
    ["tool", "Cancelled", { callId: "t9", isError: true }],
    ["user", "Stop", undefined],
    ["assistant", "Count.", "thinking"],
    ["assistant", "One.", undefined],
  ]);
  expect(unhandled).toEqual(["assistant.Dream", "result.Odd", "user.(none)", "assistant.(none)"]);
  expect(counts.invalid).toBe(2);
});
