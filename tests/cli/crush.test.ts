import { join } from "node:path";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { crush } from "../../cli/adapters/crush/adapter.ts";
import { makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told, writeBelow } from "./home.ts";

const start = Date.parse("2026-11-01T10:00:00Z") / 1000;
const at = (seconds: number) => new Date((start + seconds) * 1000).toISOString();

const schema = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, prompt_tokens INTEGER DEFAULT 0,
    cost REAL DEFAULT 0, updated_at INTEGER, created_at INTEGER);
  CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL, model TEXT,
    created_at INTEGER, updated_at INTEGER, is_summary_message INTEGER DEFAULT 0 NOT NULL);`;

/** A home with a project that Crush knows, and the project's database. */
async function project() {
  const host = await makeHome();
  const folder = join(host.home, "code/api");
  const list = {
    projects: [
      { path: folder, data_dir: join(folder, ".crush"), last_accessed: at(0) },
      { path: join(host.home, "gone") },
      7,
    ],
  };
  await writeBelow(host.home, ".local/share/crush/projects.json", JSON.stringify(list));
  return { host, folder, db: makeDatabase(join(folder, ".crush/crush.db"), schema) };
}
type Database = Awaited<ReturnType<typeof project>>["db"];

const part = (type: string, data: object) => ({ type, data });
const asked = { role: "user", parts: [part("text", { text: "List." })] };
const ran = {
  role: "assistant",
  parts: [
    part("reasoning", { thinking: "ls.", started_at: start, finished_at: start + 2 }),
    part("text", { text: "Looking." }),
    part("tool_call", { id: "t1", name: "bash", input: '{"command":"ls"}', finished: true }),
    part("finish", { reason: "tool_use", time: start }),
  ],
};
const result = {
  role: "tool",
  parts: [part("tool_result", { tool_call_id: "t1", name: "bash", content: "a.ts", is_error: false })],
};
const said = { role: "assistant", parts: [part("text", { text: "One." }), part("finish", { reason: "end_turn" })] };
const talk = [asked, ran, result, said];

type Told = { role: string; parts: unknown; isSummary?: boolean };

function put(db: Database, id: string, messages: Told[], parent: string | null = null): void {
  db.prepare("INSERT OR IGNORE INTO sessions VALUES (?, ?, 'Listing', 9, 0.5, ?, ?)").run(id, parent, start, start);
  for (const [index, { role, parts, isSummary }] of messages.entries()) {
    const text = typeof parts === "string" ? parts : JSON.stringify(parts);
    const row = [
      `${id}-m${index}`,
      id,
      role,
      text,
      role === "assistant" ? "claude-opus-4-5" : null,
      start + index,
      start + index,
    ];
    db.prepare("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(...row, isSummary ? 1 : 0);
  }
}

test("a session has its turns, calls with results, models and times, in the project that Crush lists", async () => {
  const { host, folder, db } = await project();
  put(db, "s-1", talk);
  const { sessions, counts, unhandled } = await parseAll(crush, host);
  db.close();
  expect(sessions).toEqual([
    {
      source: "crush",
      sourceId: "s-1",
      messages: [
        { role: "user", content: "List.", createdAt: at(0), metadata: { uuid: "s-1-m0" } },
        {
          role: "assistant",
          content: "ls.",
          createdAt: at(1),
          metadata: {
            kind: "thinking",
            durationMs: 2000,
            model: "claude-opus-4-5",
            uuid: "s-1-m1",
            stopReason: "tool_use",
          },
        },
        { role: "assistant", content: "Looking.", createdAt: at(1) },
        {
          role: "assistant",
          content: "bash\nls",
          createdAt: at(1),
          metadata: { tool: { name: "bash", callId: "t1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", createdAt: at(2), metadata: { result: { callId: "t1" }, uuid: "s-1-m2" } },
        { role: "assistant", content: "One.", createdAt: at(3), metadata: { uuid: "s-1-m3", stopReason: "end_turn" } },
      ],
      ending: {
        model: "claude-opus-4-5",
        title: "Listing",
        project: "api",
        createdAt: at(0),
        metadata: { cwd: folder },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 5, skipped: 1, invalid: 0 }, []]);
});

test("counts by kind are those of the rows; only the session that grew gets another stamp", async () => {
  const { host, db } = await project();
  put(db, "a", Array.from({ length: 25 }, () => talk).flat());
  put(db, "b", talk);
  const { sessions } = await parseAll(crush, host);
  const count = (type: string) =>
    db
      .prepare(
        "SELECT count(*) AS n FROM messages, json_each(parts) AS one WHERE session_id = 'a' AND json_extract(one.value, '$.type') = ?",
      )
      .get(type)?.n;
  expect(tally(sessions[0]?.messages ?? [])).toEqual({
    user: 25,
    assistant: Number(count("text")) - 25,
    thinking: count("reasoning"),
    call: count("tool_call"),
    result: count("tool_result"),
  });
  const before = await discoverAll(crush, host);
  put(db, "b", [...talk, asked]);
  const after = await discoverAll(crush, host);
  db.close();
  expect(after.map(({ stamp }, index) => stamp === before[index]?.stamp)).toEqual([true, false]);
});

test("sub-agents, summaries, the user's own commands, files and failures are told apart; the unknown is counted", async () => {
  const { host, db } = await project();
  const agent = {
    role: "assistant",
    parts: [part("tool_call", { id: "t9", name: "agent", input: '{"prompt":"Find"}' })],
  };
  const found = {
    role: "tool",
    parts: [part("tool_result", { tool_call_id: "t9", content: "Found", is_error: true })],
  };
  put(db, "main", [
    agent,
    found,
    { ...said, isSummary: true },
    {
      role: "user",
      parts: [
        part("shell_command", { command: "make", output: "no", exit_code: 2 }),
        part("binary", { Path: "/a.png", MIMEType: "image/png", Data: "AAAA" }),
      ],
    },
    {
      role: "assistant",
      parts: [part("finish", { reason: "error", message: "Busy", details: "429" }), part("dream", {})],
    },
    { role: "ghost", parts: [] },
    { role: "user", parts: "[{" },
  ]);
  put(db, "main-m0$$t9", [asked], "main");
  const { sessions, unhandled, counts } = await parseAll(crush, host);
  db.close();
  expect(told(sessions[0]?.messages, ["kind", "result", "attachments"])).toEqual([
    ["assistant", "agent\nFind", undefined],
    ["tool", "Found", { callId: "t9", isError: true, session: "main-m0$$t9" }],
    ["assistant", "One.", "notice"],
    ["user", "bash\nmake", undefined],
    ["tool", "no", { callId: "main-m3:shell", exitCode: 2 }],
    ["user", "[image: image/png, 1 KiB]", [{ type: "image/png", name: "/a.png" }]],
    ["system", "Busy\n429", "notice"],
  ]);
  expect(sessions[1]).toMatchObject({ sourceId: "main-m0$$t9", ending: { metadata: { parent: "main" } } });
  expect([unhandled, counts.invalid]).toEqual([["part.dream", "role.ghost"], 1]);
});

test("it looks where each system keeps data, and in the projects of the list", async () => {
  const { host, folder, db } = await project();
  db.close();
  const paths = (more: Partial<Host>) => crush.getSearchRoots({ ...host, ...more }).map(({ path }) => path);
  expect(paths({})).toEqual([
    join(host.home, ".local/share/crush"),
    join(folder, ".crush"),
    join(host.home, "gone/.crush"),
  ]);
  expect(paths({ env: { CRUSH_GLOBAL_DATA: "/g" } })).toEqual(["/g"]);
  expect(paths({ platform: "win32", env: { LOCALAPPDATA: "/l" } })).toEqual(["/l/crush"]);
});
