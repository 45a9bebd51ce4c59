import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { goose } from "../../cli/adapters/goose/adapter.ts";
import { countTokens, makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, toLines, told } from "./home.ts";

const folder = ".local/share/goose/sessions";
const start = Date.parse("2026-11-01T10:00:00Z") / 1000;
const at = (seconds: number) => new Date((start + seconds) * 1000).toISOString();

const schema = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
    accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT, parent_session_id TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);`;
const ledger = `CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
  cache_write_tokens INTEGER, cost REAL, cost_source TEXT);`;

type Told = { role: string; content: unknown; hidden?: boolean };

const ask = { role: "user", content: [{ type: "text", text: "List." }] };
const call = {
  type: "toolRequest",
  id: "c1",
  toolCall: { status: "success", value: { name: "developer__shell", arguments: { command: "ls" } } },
};
const run = { role: "assistant", content: [{ type: "thinking", thinking: "ls.", signature: "" }, call] };
const content = [
  { type: "text", text: "a.ts", annotations: { audience: ["assistant"] } },
  { type: "text", text: "a.ts, for you", annotations: { audience: ["user"] } },
];
const result = {
  role: "user",
  content: [{ type: "toolResponse", id: "c1", toolResult: { status: "success", value: content } }],
};
const said = { role: "assistant", content: [{ type: "text", text: "One." }] };
const talk = [ask, run, result, said];

function addMessages(db: DatabaseSync, id: string, messages: Told[], from = 0): void {
  const add = db.prepare(
    "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, ?, ?, ?, ?)",
  );
  for (const [index, { role, content: told, hidden }] of messages.entries()) {
    const json = typeof told === "string" ? told : JSON.stringify(told);
    add.run(id, role, json, start + from + index, hidden ? '{"userVisible":false}' : "{}");
  }
}

function addSession(db: DatabaseSync, id: string, messages: Told[], parent: string | null = null): void {
  db.prepare("INSERT INTO sessions VALUES (?, 'Listing', '', 'user', '/code/api', ?, ?, 150, 30, ?, ?)").run(
    id,
    "2026-11-01 10:00:00",
    "2026-11-01 10:00:00",
    '{"model_name":"claude-opus-4-5"}',
    parent,
  );
  addMessages(db, id, messages);
}

const database = (host: Host, more = "") => makeDatabase(join(host.home, folder, "sessions.db"), schema + more);

test("a session has its turns, calls with what the model got, and the session's sum of tokens", async () => {
  const host = await makeHome();
  const db = database(host);
  addSession(db, "20261101_1", talk);
  const { sessions, counts, unhandled } = await parseAll(goose, host);
  db.close();
  expect(sessions).toEqual([
    {
      source: "goose",
      sourceId: "20261101_1",
      messages: [
        { role: "user", content: "List.", createdAt: at(0) },
        {
          role: "assistant",
          content: "ls.",
          createdAt: at(1),
          metadata: { kind: "thinking", model: "claude-opus-4-5" },
        },
        {
          role: "assistant",
          content: "developer__shell\nls",
          createdAt: at(1),
          metadata: { tool: { name: "developer__shell", callId: "c1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", createdAt: at(2), metadata: { result: { callId: "c1" } } },
        { role: "assistant", content: "One.", createdAt: at(3) },
      ],
      ending: {
        model: "claude-opus-4-5",
        title: "Listing",
        project: "api",
        createdAt: "2026-11-01T10:00:00Z",
        metadata: { cwd: "/code/api", usage: { inputTokens: 150, outputTokens: 30 } },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 5, skipped: 1, invalid: 0 }, []]);
});

test("each answer has its row of the ledger, and the sums are the ledger's", async () => {
  const host = await makeHome();
  const db = database(host, ledger);
  addSession(db, "s", [...talk, ...talk]);
  const use = db.prepare(
    "INSERT INTO usage_ledger VALUES (NULL, 's', ?, ?, 100, 20, 30, 10, 0.25, 'provider_reported')",
  );
  for (const seconds of [2, 3, 5, 6, 60]) use.run(start + seconds, "gpt-5.2");
  const { sessions } = await parseAll(goose, host);
  const sums = db
    .prepare(
      "SELECT sum(input_tokens - cache_read_tokens - cache_write_tokens) AS input, sum(cost) AS cost FROM usage_ledger",
    )
    .get();
  db.close();
  const messages = sessions[0]?.messages ?? [];
  expect(tally(messages)).toEqual({ user: 2, thinking: 2, call: 2, result: 2, assistant: 2 });
  expect(countTokens(messages, "inputTokens")).toBe(sums?.input);
  expect(messages.reduce((sum, { metadata }) => sum + Number(metadata?.costUsd ?? 0), 0)).toBe(sums?.cost);
  expect(messages.filter(({ metadata }) => metadata?.usage).map(({ content: text }) => text)).toEqual([
    "ls.",
    "One.",
    "ls.",
    "One.",
  ]);
  expect(messages.map(({ tokenCount }) => tokenCount).filter(Boolean)).toEqual([20, 20, 40, 20]);
  expect(sessions[0]?.ending).toMatchObject({
    model: "gpt-5.2",
    metadata: { usage: { inputTokens: 300, outputTokens: 100 } },
  });
});

test("a database is read while Goose writes, and only the session that grew gets another stamp", async () => {
  const host = await makeHome();
  const db = database(host, ledger);
  for (const id of ["a", "b"]) addSession(db, id, talk);
  db.exec("INSERT INTO sessions (id, working_dir) VALUES ('empty', '/x')");
  const before = await discoverAll(goose, host);
  addMessages(db, "b", [ask], 9);
  const after = await discoverAll(goose, host);
  expect(before.map(({ path }) => path.split("#")[1])).toEqual(["a", "b"]);
  expect(after.map(({ stamp }, index) => stamp === before[index]?.stamp)).toEqual([true, false]);
  expect(after[1]?.modifiedAt).toBe((start + 9) * 1000);
  db.close();
});

test("summaries, reports, failures, images and sub-agents are told apart; the unknown is counted", async () => {
  const host = await makeHome();
  const db = database(host);
  addSession(db, "main", [
    { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
    {
      role: "user",
      content: [
        { type: "toolResponse", id: "c2", toolResult: { status: "error", error: "denied" } },
        {
          type: "toolResponse",
          id: "c3",
          toolResult: {
            status: "success",
            value: { isError: true, content: [{ type: "resource", resource: { text: "R" } }] },
          },
        },
      ],
    },
    { role: "user", content: [{ type: "text", text: "So far: a list." }], hidden: true },
    {
      role: "assistant",
      content: [
        { type: "systemNotification", notificationType: "inlineMessage", msg: "Compacted." },
        { type: "systemNotification", notificationType: "thinkingMessage", msg: "Thinking" },
        { type: "toolConfirmationRequest", id: "c2" },
        { type: "dream" },
      ],
    },
    { role: "ghost", content: [] },
    { role: "user", content: "[{" },
    { role: "user", content: "{}" },
  ]);
  addSession(db, "sub", [said], "main");
  const { sessions, unhandled, counts, invalid } = await parseAll(goose, host);
  db.close();
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "[image: image/png, 1 KiB]", undefined],
    ["tool", "denied", { callId: "c2", isError: true }],
    ["tool", "R", { callId: "c3", isError: true }],
    ["user", "So far: a list.", "notice"],
    ["system", "Compacted.", "notice"],
  ]);
  expect(sessions[1]?.ending.metadata).toMatchObject({ parent: "main" });
  expect(unhandled).toEqual(["content.dream", "role.ghost"]);
  expect([counts.invalid, invalid.length]).toEqual([2, 2]);
});

test("sessions of older versions are read from their lines, unless the database took them over", async () => {
  const first = { working_dir: "/code/web", description: "Old", message_count: 2, accumulated_input_tokens: 7 };
  const lines = toLines(first, { ...ask, created: start }, { ...said, created: start + 1 }, { type: "new" });
  const host = await makeHome({ [`${folder}/20250301_1.jsonl`]: lines, [`${folder}/20250302_1.jsonl`]: lines });
  const db = database(host);
  addSession(db, "20250302_1", [said]);
  db.close();
  const { sessions, unhandled } = await parseAll(goose, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([
    ["20250301_1", 2],
    ["20250302_1", 1],
  ]);
  expect(sessions[0]?.messages.map(({ content: text, createdAt }) => [text, createdAt])).toEqual([
    ["List.", at(0)],
    ["One.", at(1)],
  ]);
  expect(sessions[0]?.ending).toMatchObject({ title: "Old", project: "web", metadata: { usage: { inputTokens: 7 } } });
  expect(unhandled).toEqual(["role.(none)"]);
});

test("it looks where each system keeps its data, and where GOOSE_PATH_ROOT says", async () => {
  const paths = (more: Partial<Host>) =>
    goose.getSearchRoots({ home: "/h", cwd: "/h", env: {}, platform: "linux", ...more }).map(({ path }) => path);
  expect(paths({})).toEqual(["/h/.local/share/goose/sessions"]);
  expect(paths({ env: { XDG_DATA_HOME: "/d" } })).toEqual(["/d/goose/sessions"]);
  expect(paths({ platform: "darwin" })[1]).toBe("/h/Library/Application Support/Block/goose/sessions");
  expect(paths({ platform: "win32", env: { APPDATA: "/r" } })).toEqual(["/r/Block/goose/data/sessions"]);
  expect(paths({ env: { GOOSE_PATH_ROOT: "/g" } })).toEqual(["/g/data/sessions"]);
});
