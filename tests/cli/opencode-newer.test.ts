import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { opencode } from "../../cli/adapters/opencode/adapter.ts";
import { discoverAll, makeHome, parseAll } from "./home.ts";

const data = ".local/share/opencode";
const start = Date.parse("2026-11-01T10:00:00Z");
const tokens = { input: 100, output: 40, reasoning: 7, cache: { read: 300, write: 20 } };

type Row = { type: string; at?: number } & Record<string, unknown>;

/** A database of the newest version: a message is one row, and the older tables may have rows, too. */
async function makeDatabase(rows: Row[], older: { info: object; parts: object[] }[] = []) {
  const host = await makeHome({ [`${data}/log/x.log`]: "" });
  const db = new DatabaseSync(join(host.home, data, "opencode.db"));
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, workspace_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,
      title TEXT, version TEXT, cost REAL, revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
      data TEXT);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
      time_updated INTEGER, data TEXT);
    INSERT INTO session VALUES ('ses_a', 'p', NULL, 'ses_parent', 's', '/code/api', 'Listing', '1.15.0', 0.5, NULL,
      '{"id":"claude-opus-4-5","providerID":"anthropic"}', ${start}, ${start});`);
  for (const [seq, { type, at = 10 + seq, ...message }] of rows.entries()) {
    const time = start + at * 1000;
    const row = [
      `msg_${99 - seq}`,
      "ses_a",
      type,
      seq,
      time,
      time,
      JSON.stringify({ time: { created: time }, ...message }),
    ];
    db.prepare("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)").run(...row);
  }
  for (const [m, { info, parts }] of older.entries()) {
    const row = [`old_${m}`, "ses_a", start + m, start, JSON.stringify(info)];
    db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(...row);
    for (const [p, part] of parts.entries()) {
      db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(
        `prt_${m}_${p}`,
        `old_${m}`,
        "ses_a",
        start,
        start,
        JSON.stringify(part),
      );
    }
  }
  return { host, db };
}

const rows: Row[] = [
  { type: "model-switched", model: { id: "claude-opus-4-5", providerID: "anthropic" } },
  { type: "user", text: "Commit it.", files: [{ uri: "file:///x/shot.png", mime: "image/png", name: "shot.png" }] },
  {
    type: "assistant",
    model: { id: "claude-opus-4-5", providerID: "anthropic" },
    finish: "tool-calls",
    cost: 0.125,
    tokens,
    content: [
      { type: "reasoning", id: "r", text: "Commit." },
      { type: "text", text: "I commit." },
      {
        type: "tool",
        id: "c1",
        name: "bash",
        state: {
          status: "completed",
          input: { command: "git commit -m Mend" },
          content: [{ type: "text", text: "[main 1234abc] Mend" }],
          structured: { exit: 0 },
        },
        time: { created: start + 12_000, ran: start + 12_100, completed: start + 12_350 },
      },
    ],
  },
  {
    type: "shell",
    callID: "s1",
    command: "ls",
    output: "a.ts",
    time: { created: start + 13_000, completed: start + 13_100 },
  },
  { type: "synthetic", text: "Be careful." },
  { type: "compaction", reason: "auto", summary: "They committed." },
  { type: "agent-switched", agent: "plan" },
  { type: "dream", text: "?" },
];

test("a session whose messages are whole rows is read in its order, with costs, stop reasons, files and commits", async () => {
  const { host, db } = await makeDatabase(rows);
  const { sessions, unhandled, counts } = await parseAll(opencode, host);
  db.close();
  expect(sessions).toMatchObject([
    {
      sourceId: "ses_a",
      messages: [
        {
          role: "user",
          content: "[file: shot.png, image/png]",
          metadata: { attachments: [{ type: "image/png", name: "shot.png" }] },
        },
        { role: "user", content: "Commit it." },
        {
          role: "assistant",
          content: "Commit.",
          tokenCount: 47,
          metadata: {
            kind: "thinking",
            costUsd: 0.125,
            stopReason: "tool-calls",
            uuid: "msg_97",
            usage: {
              inputTokens: 100,
              outputTokens: 47,
              cacheReadTokens: 300,
              cacheWriteTokens: 20,
              reasoningTokens: 7,
            },
          },
        },
        { role: "assistant", content: "I commit." },
        { role: "assistant", metadata: { tool: { name: "bash", callId: "c1" } } },
        {
          role: "tool",
          content: "[main 1234abc] Mend",
          metadata: { result: { callId: "c1", exitCode: 0 }, durationMs: 250 },
        },
        { role: "user", content: "bash\nls", metadata: { tool: { callId: "s1" } } },
        { role: "tool", content: "a.ts", metadata: { result: { callId: "s1" } } },
        { content: "Be careful.", metadata: { kind: "notice" } },
        { content: "They committed.", metadata: { kind: "notice" } },
      ],
      ending: {
        title: "Listing",
        model: "claude-opus-4-5",
        metadata: {
          cwd: "/code/api",
          parent: "ses_parent",
          commits: [{ hash: "1234abc", branch: "main", subject: "Mend", position: 5 }],
          usage: { outputTokens: 47 },
        },
      },
    },
  ]);
  expect(unhandled).toEqual(["message.dream"]);
  expect(counts).toEqual({ entries: 9, skipped: 4, invalid: 0 });
});

test("while both kinds of rows are written, the ones with the latest message are read", async () => {
  const older = [{ info: { role: "user", time: { created: start } }, parts: [{ type: "text", text: "Older" }] }];
  const first = async (newer: Row[]) => {
    const { host, db } = await makeDatabase(newer, older);
    const { sessions } = await parseAll(opencode, host);
    db.close();
    return sessions[0]?.messages.map(({ content }) => content);
  };
  expect(await first([{ type: "user", text: "Newer", at: 60 }])).toEqual(["Newer"]);
  expect(await first([{ type: "user", text: "Newer", at: -60 }])).toEqual(["Older"]);
  // A switch alone is no message.
  expect(await first([{ type: "model-switched", at: 60 }])).toEqual(["Older"]);
});

test("a new row changes the session's stamp; without SQLite support the stamp stays, so that it is told once", async () => {
  const { host, db } = await makeDatabase(rows);
  const [before] = await discoverAll(opencode, host);
  const insert = db.prepare("INSERT INTO session_message VALUES (?, 'ses_a', 'user', ?, ?, ?, '{\"text\":\"More\"}')");
  insert.run("msg_x", 90, start, start);
  const [after] = await discoverAll(opencode, host);
  expect(after?.stamp).not.toBe(before?.stamp);
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const [told] = await discoverAll(opencode, host);
  insert.run("msg_y", 91, start, start);
  const [again] = await discoverAll(opencode, host);
  vi.restoreAllMocks();
  db.close();
  expect([told?.needsNewerNode, again?.stamp]).toEqual([true, told?.stamp]);
});

test("a message's cost and why it ended are kept, also without text", async () => {
  const answer = (parts: object[], more: object = {}) => ({
    info: { role: "assistant", modelID: "m", time: { created: start }, cost: 0.25, tokens, finish: "stop", ...more },
    parts,
  });
  const { host, db } = await makeDatabase(
    [],
    [answer([{ type: "text", text: "Hi" }]), answer([{ type: "step-start" }])],
  );
  const { sessions } = await parseAll(opencode, host);
  db.close();
  expect(sessions[0]?.messages.map(({ metadata }) => metadata)).toMatchObject([
    { costUsd: 0.25, stopReason: "stop", uuid: "old_0" },
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { inputTokens: 200, outputTokens: 80 } });
});

test("rows of other shapes are counted and stop nothing", async () => {
  const { host, db } = await makeDatabase([
    { type: "user", text: 7, files: "none" },
    {
      type: "assistant",
      content: [{ type: "tool" }, { type: "hologram" }, 5],
      tokens: "many",
      cost: "much",
      model: [],
    },
    { type: "shell" },
    { type: "user", text: "Hi" },
  ]);
  db.exec("INSERT INTO session_message VALUES ('msg_z', 'ses_a', 'user', 99, 1, 1, '{\"text\":')");
  const { sessions, unhandled, invalid } = await parseAll(opencode, host);
  db.close();
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["tool", "bash", "Hi"]);
  expect(unhandled).toEqual(["content.hologram"]);
  expect(invalid).toEqual([expect.stringContaining("msg_z is not a JSON object")]);
});

test("a small reading of the rows, in SQL, counts the same", async () => {
  const talk = Array.from({ length: 5 }, (_, turn) =>
    rows.slice(1, 4).map((row, at) => ({ ...row, at: turn * 60 + at })),
  ).flat();
  const { host, db } = await makeDatabase(talk);
  const { sessions } = await parseAll(opencode, host);
  const count = (sql: string) => Number(db.prepare(sql).get()?.n);
  const content =
    "session_message, json_each(data, '$.content') AS part WHERE session_message.type = 'assistant' AND part.value ->> 'type'";
  const messages = sessions[0]?.messages ?? [];
  const has = (key: string) => messages.filter(({ metadata }) => metadata?.[key] !== undefined).length;
  const shells = count("SELECT count(*) AS n FROM session_message WHERE type = 'shell'");
  const tools = count(`SELECT count(*) AS n FROM ${content} = 'tool'`);
  expect([has("tool"), has("result")]).toEqual([tools + shells, tools + shells]);
  const texts = messages.filter(({ role, metadata }) => role === "assistant" && !metadata?.kind && !metadata?.tool);
  expect(texts).toHaveLength(count(`SELECT count(*) AS n FROM ${content} = 'text'`));
  const sums = sessions[0]?.ending.metadata?.usage as Record<string, number>;
  expect(sums.inputTokens).toBe(count("SELECT sum(data ->> '$.tokens.input') AS n FROM session_message"));
  expect(sums.outputTokens).toBe(
    count("SELECT sum((data ->> '$.tokens.output') + (data ->> '$.tokens.reasoning')) AS n FROM session_message"),
  );
  const costs = messages.map(({ metadata }) => Number(metadata?.costUsd ?? 0));
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(
    count("SELECT sum(data ->> '$.cost') AS n FROM session_message"),
  );
  db.close();
});
