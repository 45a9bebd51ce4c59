import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { makeDatabase } from "./databases.ts";
import { discoverAll, makeHome, type Parsed, parseAll, toLines, writeBelow } from "./home.ts";

// UUIDs of version 7 begin with their time.
const idAt = (seconds: number, end = "7333-8444-555555555555") => {
  const hex = (Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${end}`;
};
const parent = idAt(-3600);
const child = idAt(0);
const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();

type Line = { timestamp: string; ordinal?: number; type: string; payload: object };

const line = (seconds: number, type: string, payload: object): Line => ({ timestamp: at(seconds), type, payload });
const event = (seconds: number, payload: object) => line(seconds, "event_msg", payload);
const said = (seconds: number, role: string, text: string) =>
  line(seconds, "response_item", { type: "message", role, content: [{ type: "output_text", text }] });
const tokens = (seconds: number, output: number, last = output) =>
  event(seconds, {
    type: "token_count",
    info: { total_token_usage: { output_tokens: output }, last_token_usage: { output_tokens: last } },
  });
const turn = (seconds: number, id: string, startedAt?: number) => [
  event(seconds, { type: "task_started", turn_id: id, ...(startedAt !== undefined && { started_at: startedAt }) }),
  line(seconds, "turn_context", { turn_id: id, model: "gpt-5.5", cwd: "/home/ada/code/web" }),
];
const meta = (seconds: number, id: string, more: object = {}) =>
  line(seconds, "session_meta", { id, timestamp: at(seconds), cwd: "/home/ada/code/web", ...more });

/** The parent's turn, written anew by a fork, which takes a second for each line. */
const copied = (turnId: string) => [
  ...turn(1, turnId),
  said(3, "user", "Before"),
  said(5, "assistant", "Then"),
  event(6, { type: "thread_name_updated", thread_name: "The parent's name" }),
  tokens(7, 100),
];
/** The fork's own turn, which the user begins at once. */
const own = (turnId: string) => [
  ...turn(7.2, turnId),
  said(7.3, "user", "Now"),
  said(8, "assistant", "New"),
  tokens(8, 130, 30),
];

const makePath = (id: string) => `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
const parse = async (files: Record<string, Line[]>) =>
  parseAll(
    codex,
    await makeHome(Object.fromEntries(Object.entries(files).map(([id, lines]) => [makePath(id), toLines(...lines)]))),
  );
const findChild = ({ sessions }: Parsed) => sessions.find(({ sourceId }) => sourceId === child);
const markedIn = (parsed: Parsed) =>
  findChild(parsed)?.messages.map(({ content, tokenCount, metadata }) => [content, tokenCount, metadata?.replayed]);

const expected = [
  ["Before", undefined, true],
  ["Then", undefined, true],
  ["Now", undefined, undefined],
  ["New", 30, undefined],
];
const fork = meta(0, child, { forked_from_id: parent });

test("a fork ends its parent's history at the first turn that the parent does not have, however long the copy took", async () => {
  const parsed = await parse({
    [parent]: [meta(-3600, parent), ...copied("turn-a")],
    [child]: [fork, meta(0, parent), ...copied("turn-a"), ...own("turn-b")],
  });
  expect(markedIn(parsed)).toEqual(expected);
  expect(findChild(parsed)?.ending).toMatchObject({
    createdAt: at(0),
    metadata: { forkedFrom: parent, usage: { outputTokens: 30 } },
  });
  expect(findChild(parsed)?.ending.title).toBeUndefined();
});

test("without the parent's file the turns' own times tell", async () => {
  const byId = await parse({ [child]: [fork, ...copied(idAt(-60)), ...own(idAt(7))] });
  expect(markedIn(byId)).toEqual(expected);
  const [first, ...rest] = copied("turn-a");
  const startedAt = Date.parse(at(0)) / 1000;
  const begun = { ...first, payload: { ...first?.payload, started_at: startedAt - 60 } } as Line;
  const byStart = await parse({
    [child]: [fork, begun, ...rest, ...turn(7.2, "turn-b", startedAt + 7), ...own("turn-b").slice(2)],
  });
  expect(markedIn(byStart)).toEqual(expected);
});

test("where neither turns nor times tell, the first pause ends the parent's history", async () => {
  const parsed = await parse({
    [child]: [
      fork,
      said(0.1, "user", "Before"),
      said(0.9, "assistant", "Then"),
      tokens(1.7, 100),
      said(9, "user", "Now"),
      said(9.1, "assistant", "New"),
      tokens(9.2, 130, 30),
    ],
  });
  expect(markedIn(parsed)).toEqual(expected);
});

test("what copied answers used is told under the ids that the parent's own lines have, whatever their times", async () => {
  const usedIn = ({ sessions }: Parsed, id: string) =>
    sessions
      .find(({ sourceId }) => sourceId === id)
      ?.messages.flatMap(({ metadata: { requestId, usage, copiedUsage } = {} }) =>
        requestId ? [[requestId, usage ?? copiedUsage, copiedUsage !== undefined]] : [],
      );
  const record = (seconds: number) => {
    const usage = { input_tokens: 5, output_tokens: 9 };
    return line(seconds, "token_usage_record", { response_id: "resp_1", thread_id: parent, usage });
  };
  const answers = (turnId: string) => [...copied(turnId), said(7.1, "assistant", "Again"), record(7.1)];
  const first = await parse({ [parent]: [meta(-3600, parent), ...answers(idAt(-60))] });
  const alone = await parse({ [child]: [fork, meta(0, parent), ...answers(idAt(-60)), ...turn(7.2, idAt(7))] });
  const used = [
    [`${idAt(-60)}+0+100`, { outputTokens: 100 }],
    ["resp_1", { inputTokens: 5, outputTokens: 9 }],
  ];
  expect(usedIn(first, parent)).toEqual(used.map((one) => [...one, false]));
  expect(usedIn(alone, child)).toEqual(used.map((one) => [...one, true]));
});

test("a sub-agent that was given its parent's history numbers its first own line", async () => {
  const spawned = { forked_from_id: parent, parent_thread_id: parent, subagent_history_start_ordinal: 9 };
  const lines = [meta(0, child, spawned), meta(0, parent), ...copied("turn-a"), ...own("turn-b")];
  const parsed = await parse({ [child]: lines.map((one, ordinal) => ({ ...one, ordinal })) });
  expect(findChild(parsed)?.messages.map(({ metadata }) => metadata?.replayed)).toEqual([
    true,
    true,
    undefined,
    undefined,
  ]);
  expect(findChild(parsed)?.ending.metadata).toMatchObject({ parent, forkedFrom: parent, usage: { outputTokens: 30 } });
});

test("a sub-agent without its parent's history has all of its own", async () => {
  const parsed = await parse({ [child]: [meta(0, child, { parent_thread_id: parent }), ...own("turn-b")] });
  expect(markedIn(parsed)).toEqual([
    ["Now", undefined, undefined],
    ["New", 130, undefined],
  ]);
  expect(findChild(parsed)?.ending.metadata).toMatchObject({ parent });
  expect(findChild(parsed)?.ending.metadata).not.toHaveProperty("forkedFrom");
});

test("a fork's commits are those of its own turns", async () => {
  const commit = (seconds: number, hash: string) => [
    line(seconds, "response_item", {
      type: "function_call",
      name: "exec_command",
      call_id: hash,
      arguments: '{"cmd":"git commit -m x"}',
    }),
    line(seconds, "response_item", { type: "function_call_output", call_id: hash, output: `[main ${hash}] x` }),
  ];
  const parsed = await parse({
    [parent]: [meta(-3600, parent), ...turn(1, "turn-a"), ...commit(2, "abc1111")],
    [child]: [fork, ...turn(1, "turn-a"), ...commit(2, "abc1111"), ...turn(3, "turn-b"), ...commit(4, "abc2222")],
  });
  expect(findChild(parsed)?.ending.metadata).toMatchObject({
    commits: [{ hash: "abc2222", branch: "main", subject: "x", position: 3 }],
  });
});

test("a page of a thread that was taken up again is a session of its own, and its total goes on from the first one's", async () => {
  const page = "0199eeee-2222-7333-8444-555555555555";
  const base = { thread_id: child, end_ordinal_exclusive: 9, end_byte_offset: 900 };
  const { sessions } = await parse({
    [`${child}_${page}`]: [
      meta(60, child, { history_base: base }),
      ...turn(61, "t"),
      said(62, "assistant", "On"),
      tokens(63, 500, 20),
    ],
    [child]: [meta(0, child), ...own("turn-b")],
  });
  expect(sessions.map(({ sourceId }) => sourceId).sort()).toEqual([child, `${child}/${page}`]);
  const later = sessions.find(({ sourceId }) => sourceId !== child);
  expect(later?.ending.metadata).toMatchObject({ continues: child, usage: { outputTokens: 20 } });
});

test("a name in the database of threads is the title, but not the prompt that stands for one", async () => {
  const files = { [makePath(child)]: toLines(meta(0, child), ...own("turn-b")) };
  const titleWith = async (columns: string, ...values: string[]) => {
    const host = await makeHome({
      ...files,
      ".codex/session_index.jsonl": toLines({ id: child, thread_name: "Before" }),
    });
    const schema = `CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT, first_user_message TEXT${columns});`;
    const db = makeDatabase(join(host.home, ".codex/state_5.sqlite"), schema);
    db.prepare(`INSERT INTO threads VALUES (?${", ?".repeat(values.length)})`).run(child, ...values);
    db.close();
    await writeBelow(host.home, ".codex/state_4.sqlite", "no database");
    return (await parseAll(codex, host)).sessions[0]?.ending.title;
  };
  expect(await titleWith("", "Given", "Why?")).toBe("Given");
  expect(await titleWith("", "Why", "Why? Because.")).toBe("Before");
  expect(await titleWith("", "", "Why?")).toBe("Before");
  expect(await titleWith(", name TEXT", "Why?", "Why?", "Named")).toBe("Named");
});

test("of two databases of threads the one written to last names the sessions that both have", async () => {
  const other = idAt(5);
  const host = await makeHome({
    [makePath(child)]: toLines(meta(0, child), ...own("turn-b")),
    [makePath(other)]: toLines(meta(0, other), ...own("turn-c")),
  });
  await mkdir(join(host.home, ".codex/sqlite"));
  const write = async (path: string, seconds: number, ...ids: string[]) => {
    const db = makeDatabase(join(host.home, path), "CREATE TABLE threads (id TEXT, name TEXT)");
    for (const id of ids) db.prepare("INSERT INTO threads VALUES (?, ?)").run(id, path);
    db.close();
    await utimes(join(host.home, path), seconds, seconds);
  };
  await write(".codex/sqlite/state_5.sqlite", 2000, child);
  await write(".codex/state_5.sqlite", 1000, child, other);
  const titles = (await parseAll(codex, host)).sessions.map(({ sourceId, ending }) => [sourceId, ending.title]);
  expect(new Map(titles as [string, string][])).toEqual(
    new Map([
      [child, ".codex/sqlite/state_5.sqlite"],
      [other, ".codex/state_5.sqlite"],
    ]),
  );
});

test("a database of threads that can't be read leaves the names of the index", async () => {
  const host = await makeHome({
    [makePath(child)]: toLines(meta(0, child), ...own("turn-b")),
    ".codex/session_index.jsonl": toLines({ id: child, thread_name: "Before" }),
    ".codex/state_5.sqlite": "no database, but long enough to look at".repeat(40),
  });
  expect((await parseAll(codex, host)).sessions[0]?.ending.title).toBe("Before");
});

test("a name that the user gave is the title, and a new one changes the stamp", async () => {
  const index = (...names: string[]) =>
    toLines(...names.map((thread_name) => ({ id: child, thread_name })), { id: parent, thread_name: "Other" });
  const files = { [makePath(child)]: toLines(meta(0, child), ...own("turn-b")) };
  const host = await makeHome({ ...files, ".codex/session_index.jsonl": index("First", "Second") });
  expect((await parseAll(codex, host)).sessions[0]?.ending.title).toBe("Second");
  const bare = await makeHome(files);
  const [named, unnamed] = [await discoverAll(codex, host), await discoverAll(codex, bare)];
  expect(named[0]?.stamp).toMatch(/:[\w-]{12}$/);
  expect(unnamed[0]?.stamp).not.toMatch(/:[\w-]{12}$/);
});
