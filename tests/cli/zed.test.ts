import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { zed } from "../../cli/adapters/zed/adapter.ts";
import { countTokens, makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told } from "./home.ts";

const at = "2026-11-01T10:00:00Z";
const later = "2026-11-01T11:00:00Z";

const newSchema = `CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL,
  data BLOB NOT NULL, parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT, created_at TEXT);`;
const oldSchema = `CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL,
  data BLOB NOT NULL);`;
const database = (host: Host, schema = newSchema) =>
  makeDatabase(join(host.home, ".local/share/zed/threads/threads.db"), schema);
type Database = ReturnType<typeof database>;

const compressed = (thread: unknown) => zstdCompressSync(Buffer.from(JSON.stringify(thread)));

function put(db: Database, id: string, thread: unknown, parent: string | null = null, updated = later): void {
  db.prepare("INSERT OR REPLACE INTO threads VALUES (?, 'Listing', ?, 'zstd', ?, ?, ?, '0,1', ?)").run(
    id,
    updated,
    Buffer.isBuffer(thread) ? thread : compressed(thread),
    parent,
    "/code/api\n/code/web",
    at,
  );
}

const user = (id: string, ...content: unknown[]) => ({ User: { id, content } });
const use = {
  ToolUse: { id: "t1", name: "terminal", raw_input: "{}", input: { command: "ls" }, is_input_complete: true },
};
const result = (content: unknown, isError = false) => ({
  t1: { tool_use_id: "t1", tool_name: "terminal", is_error: isError, content },
});
const talk = [
  user(
    "u1",
    { Text: "List " },
    { Mention: { uri: { Directory: { abs_path: "/code/api" } }, content: "" } },
    { Text: "." },
  ),
  {
    Agent: {
      content: [{ Thinking: { text: "ls.", signature: "" } }, { Text: "Looking." }, use],
      tool_results: result([{ Text: "a.ts" }]),
    },
  },
  { Agent: { content: [{ Text: "One." }], tool_results: {} } },
];
const usage = { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 10, cache_read_input_tokens: 30 };
const thread = {
  version: "0.3.0",
  title: "Listing",
  messages: talk,
  model: { provider: "anthropic", model: "claude-opus-4-5" },
  request_token_usage: { u1: usage },
  cumulative_token_usage: { ...usage, input_tokens: 150 },
  initial_project_snapshot: {
    timestamp: at,
    worktree_snapshots: [
      {
        worktree_path: "/code/api",
        git_state: { remote_url: "https://me:secret@example.org/a/api.git", current_branch: "main" },
      },
    ],
  },
};

test("a thread has its turns, calls with results, model, folder, branch, and each token once", async () => {
  const host = await makeHome();
  const db = database(host);
  put(db, "z-1", thread);
  const { sessions, counts, unhandled } = await parseAll(zed, host);
  db.close();
  const tokens = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 10 };
  expect(sessions).toEqual([
    {
      source: "zed",
      sourceId: "z-1",
      messages: [
        {
          role: "user",
          content: "List @/code/api.",
          metadata: { attachments: [{ type: "mention", name: "/code/api" }], uuid: "u1" },
        },
        {
          role: "assistant",
          content: "ls.",
          tokenCount: 20,
          metadata: { kind: "thinking", model: "claude-opus-4-5", usage: tokens },
        },
        { role: "assistant", content: "Looking." },
        {
          role: "assistant",
          content: "terminal\nls",
          metadata: { tool: { name: "terminal", callId: "t1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", metadata: { result: { callId: "t1" } } },
        { role: "assistant", content: "One." },
      ],
      ending: {
        model: "claude-opus-4-5",
        title: "Listing",
        project: "api",
        createdAt: at,
        metadata: {
          cwd: "/code/api",
          branch: "main",
          repository: "https://example.org/a/api.git",
          usage: { ...tokens, inputTokens: 150 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 4, skipped: 1, invalid: 0 }, []]);
});

test("counts are those of the thread's JSON; only the thread that was written gets another stamp", async () => {
  const host = await makeHome();
  const db = database(host);
  const many = Array.from({ length: 30 }, () => talk).flat();
  put(db, "a", { ...thread, messages: many });
  put(db, "b", thread, "a");
  const before = await discoverAll(zed, host);
  const { sessions } = await parseAll(zed, host);
  const text = JSON.stringify(many);
  const count = (word: string) => text.split(`{"${word}":`).length - 1;
  expect(tally(sessions[0]?.messages ?? [])).toEqual({
    user: count("User"),
    thinking: count("Thinking"),
    call: count("ToolUse"),
    result: text.split('"tool_name":').length - 1,
    assistant: 60,
  });
  expect(countTokens(sessions[0]?.messages ?? [], "outputTokens")).toBe(20);
  expect(sessions[1]?.ending.metadata).toMatchObject({ parent: "a" });
  put(db, "b", { ...thread, messages: many }, "a", "2026-11-01T12:00:00Z");
  const after = await discoverAll(zed, host);
  expect(after.map(({ stamp }, index) => stamp === before[index]?.stamp)).toEqual([true, false]);
  db.close();
});

test("threads of older versions are read: plain JSON, segments, tools apart from them", async () => {
  const host = await makeHome();
  const db = database(host, oldSchema);
  const messages = [
    { id: 0, role: "user", segments: [{ type: "text", text: "Hi" }] },
    {
      id: 1,
      role: "assistant",
      segments: [{ type: "thinking", text: "Hm" }, { type: "text", text: "Ho" }, { type: "odd" }],
      tool_uses: [{ id: "t1", name: "grep", input: { regex: "x" } }],
      tool_results: [{ tool_use_id: "t1", is_error: true, content: "none" }],
    },
    { id: 2, role: "system", segments: [] },
  ];
  const old = JSON.stringify({ version: "0.2.0", summary: "Greeting", messages, request_token_usage: [usage] });
  db.prepare("INSERT INTO threads VALUES ('old', 'Greeting', ?, 'json', ?)").run(at, Buffer.from(old));
  const { sessions, unhandled } = await parseAll(zed, host);
  db.close();
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Hi", undefined],
    ["assistant", "Hm", "thinking"],
    ["assistant", "Ho", undefined],
    ["assistant", "grep\nx", undefined],
    ["tool", "none", { callId: "t1", isError: true }],
  ]);
  expect(sessions[0]?.ending).toMatchObject({ title: "Greeting", createdAt: at });
  expect(unhandled).toEqual(["segment.odd"]);
});

test("a thread that would be far larger than its bytes is told, and the rest is read", async () => {
  const host = await makeHome();
  const db = database(host);
  put(db, "bomb", { messages: [], padding: "x".repeat(8 << 20) });
  put(db, "plain", thread);
  const { sessions, lost, counts } = await parseAll(zed, host);
  db.close();
  expect([sessions.map(({ sourceId }) => sourceId), lost, counts.invalid]).toEqual([
    ["plain"],
    ["thread bomb is compressed, and would be too large"],
    0,
  ]);
});

test("the unknown is counted, the damaged told, and the rest is read", async () => {
  const host = await makeHome();
  const db = database(host);
  const odd = [
    user("u", { Image: { source: "AA" } }, { Odd: 1 }),
    "Resume",
    { Compaction: { summary: "So far." } },
    { Dream: {} },
    { Agent: { content: [{ Odd: 1 }, use], tool_results: result({ Text: "no" }, true) } },
    7,
  ];
  put(db, "drift", { messages: odd });
  put(db, "cut", compressed(thread).subarray(0, 40));
  put(db, "list", []);
  const { sessions, unhandled, counts } = await parseAll(zed, host);
  db.close();
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.map(({ content }) => content)])).toEqual([
    ["drift", ["[image: image/png, 1 KiB]", "So far.", "terminal\nls", "no"]],
  ]);
  expect(unhandled).toEqual(["user.Odd", "message.Dream", "agent.Odd", "message.(none)"]);
  expect(counts.invalid).toBe(2);
});
