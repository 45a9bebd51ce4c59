import { join } from "node:path";
import { expect, test } from "vitest";
import { hermes } from "../../cli/adapters/hermes/adapter.ts";
import { makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told } from "./home.ts";

const start = Date.parse("2026-11-01T10:00:00Z") / 1000;
const at = (seconds: number) => new Date((start + seconds) * 1000).toISOString();

const schema = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, session_key TEXT, model TEXT, model_config TEXT,
    parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, input_tokens INTEGER, output_tokens INTEGER,
    cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER, cwd TEXT, git_branch TEXT, title TEXT,
    title_source TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT,
    _compressed_summary INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,
    display_kind TEXT);`;

type Row = Record<string, string | number | null>;
type Database = ReturnType<typeof makeDatabase>;

function insert(db: Database, table: string, row: Row): void {
  const names = Object.keys(row);
  db.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`).run(
    ...Object.values(row),
  );
}
const openSession = (db: Database, id: string, more: Row = {}) =>
  insert(db, "sessions", { id, source: "cli", started_at: start, ...more });
const say = (db: Database, session_id: string, seconds: number, role: string, content: string | null, more: Row = {}) =>
  insert(db, "messages", { session_id, role, content, timestamp: start + seconds, ...more });

async function open(path = ".hermes/state.db") {
  const host = await makeHome();
  return { host, db: makeDatabase(join(host.home, path), schema) };
}

const call = { id: "c1", type: "function", function: { name: "terminal", arguments: '{"command":"ls"}' } };
const parts = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  { type: "hologram" },
];

test("a session has its turns, images, calls with how they ended, notices and its sum of tokens", async () => {
  const { host, db } = await open();
  openSession(db, "s1", {
    model: "claude-opus-4-5",
    cwd: "/code/web",
    git_branch: "main",
    title: "Listing",
    title_source: "llm",
    input_tokens: 12,
    output_tokens: 7,
    cache_read_tokens: 100,
    cache_write_tokens: 3,
    reasoning_tokens: 2,
  });
  say(db, "s1", 1, "session_meta", "");
  say(db, "s1", 2, "user", `\0json:${JSON.stringify(parts)}`);
  say(db, "s1", 3, "assistant", "Looking.", {
    reasoning: "ls",
    tool_calls: JSON.stringify([call]),
    finish_reason: "tool_calls",
  });
  say(db, "s1", 4, "tool", '{"output":"no","exit_code":2,"error":"failed"}', { tool_call_id: "c1" });
  say(db, "s1", 5, "user", '[SYSTEM: The user has invoked the "plan" skill.]\n---\nname: plan\n---\nPlan.', {});
  say(db, "s1", 6, "user", "[delegation complete]", { display_kind: "async_delegation_complete" });
  say(db, "s1", 7, "assistant", "One.", { finish_reason: "stop" });
  say(db, "s1", 8, "dream", "x");
  say(db, "s1", 9, "user", "\0json:[cut off");
  const { sessions, counts, unhandled } = await parseAll(hermes, host);
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "What is this?", undefined],
    ["user", "[image: image/png, 1 KiB]", undefined],
    ["assistant", "ls", "thinking"],
    ["assistant", "Looking.", undefined],
    ["assistant", "terminal\nls", undefined],
    ["tool", "no", { callId: "c1", isError: true, exitCode: 2 }],
    ["user", "/plan", undefined],
    ["user", '[SYSTEM: The user has invoked the "plan" skill.]\n---\nname: plan\n---\nPlan.', "notice"],
    ["user", "[delegation complete]", "notice"],
    ["assistant", "One.", undefined],
  ]);
  expect(sessions[0]?.messages[2]).toMatchObject({
    createdAt: at(3),
    metadata: { model: "claude-opus-4-5", stopReason: "tool_calls" },
  });
  expect(sessions[0]).toMatchObject({
    source: "hermes",
    sourceId: "s1",
    ending: {
      title: "Listing",
      model: "claude-opus-4-5",
      project: "web",
      createdAt: at(0),
      metadata: {
        cwd: "/code/web",
        branch: "main",
        usage: { inputTokens: 12, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 3, reasoningTokens: 2 },
      },
    },
  });
  expect([counts, unhandled]).toEqual([{ entries: 10, skipped: 4, invalid: 1 }, ["part.hologram", "role.dream"]]);
  db.close();
});

test("rows that a compaction wrote once more count once, and what it replaced stays", async () => {
  const { host, db } = await open();
  openSession(db, "s1", { title: "Why", title_source: "derived" });
  say(db, "s1", 1, "user", "Why?", { active: 0, compacted: 1 });
  say(db, "s1", 2, "assistant", "So.", { active: 0, compacted: 1 });
  say(db, "s1", 9, "user", "[CONTEXT COMPACTION] They asked.", { _compressed_summary: 1 });
  say(db, "s1", 2, "assistant", "So.");
  say(db, "s1", 10, "user", "And now?");
  const { sessions } = await parseAll(hermes, host);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual([
    "Why?",
    "So.",
    "[CONTEXT COMPACTION] They asked.",
    "And now?",
  ]);
  expect(tally(sessions[0]?.messages ?? [])).toEqual({ user: 2, assistant: 1, notice: 1 });
  expect(sessions[0]?.ending.title).toBeUndefined();
  db.close();
});

test("a session tells what it came from: a compaction, a branch, a delegation, or nothing but the same chat", async () => {
  const { host, db } = await open();
  const child = (id: string, parent_session_id: string, mark?: string, more: Row = {}) => {
    const config = mark ? JSON.stringify({ [mark]: parent_session_id }) : null;
    openSession(db, id, { parent_session_id, model_config: config, ...more });
    say(db, id, 1, "user", "Why?");
    say(db, id, 5, "user", `Own of ${id}.`);
  };
  openSession(db, "a", { end_reason: "compression", session_key: "chat" });
  say(db, "a", 1, "user", "Why?");
  child("b", "a");
  child("c", "a", "_branched_from");
  child("d", "a", "_delegate_from");
  child("e", "b");
  child("f", "b", "_reset_from");
  openSession(db, "g", { end_reason: "idle", session_key: "chat" });
  say(db, "g", 1, "user", "Why?");
  child("h", "g", undefined, { session_key: "chat" });
  const { sessions } = await parseAll(hermes, host);
  const links = sessions.map(({ sourceId, ending, messages }) => {
    const { parent, forkedFrom, continues } = ending.metadata as Record<string, string>;
    const replayed = messages.filter(({ metadata }) => metadata?.replayed).length;
    return [sourceId, parent, forkedFrom, continues, replayed];
  });
  expect(links).toEqual([
    ["a", undefined, undefined, undefined, 0],
    ["b", undefined, undefined, "a", 1],
    ["c", undefined, "a", undefined, 1],
    ["d", "a", undefined, undefined, 0],
    ["e", "b", undefined, undefined, 0],
    ["f", undefined, undefined, undefined, 0],
    ["g", undefined, undefined, undefined, 0],
    ["h", undefined, undefined, undefined, 0],
  ]);
  db.close();
});

test("profiles have databases of their own, and HERMES_HOME moves all of them", async () => {
  const { host, db } = await open("other/profiles/work/state.db");
  openSession(db, "s1");
  say(db, "s1", 1, "user", "Why?");
  expect(await discoverAll(hermes, host)).toEqual([]);
  const moved = { ...host, env: { HERMES_HOME: join(host.home, "other") } };
  const [before] = await discoverAll(hermes, moved);
  say(db, "s1", 2, "assistant", "So.");
  const [after] = await discoverAll(hermes, moved);
  expect(after?.stamp).not.toBe(before?.stamp);
  expect((await parseAll(hermes, moved)).sessions[0]?.messages).toHaveLength(2);
  db.close();
});

test("a small reading of the same database counts the same", async () => {
  const { host, db } = await open();
  for (let session = 0; session < 3; session++) {
    openSession(db, `s${session}`, { input_tokens: 10 * session, output_tokens: session });
    for (let turn = 0; turn < 20 + session; turn++) {
      say(db, `s${session}`, turn * 9, "user", `Why ${turn}?`);
      const calls = turn % 3 === 0 ? JSON.stringify([{ ...call, id: `c${turn}` }]) : null;
      say(db, `s${session}`, turn * 9 + 1, "assistant", `So ${turn}.`, { tool_calls: calls });
      if (calls) say(db, `s${session}`, turn * 9 + 2, "tool", `{"output":"${turn}"}`, { tool_call_id: `c${turn}` });
    }
  }
  const { sessions, counts } = await parseAll(hermes, host);
  const expected = db.prepare(
    `SELECT count(*) FILTER (WHERE role = 'user') AS user, count(*) FILTER (WHERE role = 'assistant') AS assistant,
      count(tool_calls) AS call, count(*) FILTER (WHERE role = 'tool') AS result FROM messages WHERE session_id = ?`,
  );
  for (const { sourceId, messages } of sessions) expect(tally(messages)).toEqual({ ...expected.get(sourceId) });
  const rows = Number(db.prepare("SELECT count(*) AS rows FROM messages").get()?.rows);
  expect([sessions.length, counts.entries, counts.invalid]).toEqual([3, rows + 3, 0]);
  db.close();
});

test("rows of any other shape end nothing", async () => {
  const { host, db } = await open();
  const strange = [null, 7, 9e15, 1e300, "?", "[null]", '{"a":[1]}', '\0json:[7,null,{"type":7}]', '\0json:{"a":1}'];
  openSession(db, "s1");
  say(db, "s1", 1, "user", "Why?");
  const columns = [
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "timestamp",
    "finish_reason",
    "reasoning",
    "display_kind",
  ];
  for (const column of columns) {
    for (const value of strange) {
      const needed = column === "role" || column === "timestamp";
      if (value === null && needed) continue;
      const row = { session_id: "s1", role: "assistant", content: "x", timestamp: start, [column]: value };
      insert(db, "messages", row);
      insert(db, "messages", { ...row, ...(column !== "role" && { role: "tool" }) });
    }
  }
  for (const [index, value] of strange.entries()) {
    openSession(db, `t${index}`, {
      started_at: 1e300,
      title: value,
      model: value,
      model_config: value,
      parent_session_id: value,
    });
    say(db, `t${index}`, 1, "user", "Why?");
  }
  const { sessions } = await parseAll(hermes, host);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["s1", ...strange.map((_, index) => `t${index}`)]);
  db.close();
});
