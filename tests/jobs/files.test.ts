import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { listTouching, listTraceFiles } from "#lib/files/files";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { countTraces } from "#lib/traces/facets";
import { readOutline } from "#lib/traces/outline";
import { neighbours } from "#lib/traces/queries";
import { maxTouches } from "#lib/transcript/files/touches";
import { longTest } from "../support/long.ts";
import { makeUser, owner, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, findId } = getUploads(userId);
beforeEach(clearTraces);

const cwd = "/home/ada/api";

type Fields = Record<string, unknown>;
let calls = 0;
/** A call and its result; without positions. */
const call = (name: string, input: Fields, result: Fields | null = {}) => {
  const callId = `call-${++calls}`;
  return [
    { role: "assistant", content: name, metadata: { tool: { name, callId, input, content: "call" } } },
    ...(result ? [{ role: "tool", content: "done", metadata: { result: { callId, ...result } } }] : []),
  ];
};
const edit = (path: string, before = "a", after = "b\nc") =>
  call("Edit", { file_path: `${cwd}/${path}`, old_string: before, new_string: after });
const read = (path: string) => call("Read", { file_path: `${cwd}/${path}` });
const word = (content: string) => [{ role: "user", content }];
const session = (sourceId: string, ...parts: Fields[][]) => ({
  ...{ sourceId, source: "claude-code", metadata: { cwd }, project: "api", title: `About ${sourceId}` },
  messages: parts.flat().map((message, position) => ({ ...message, position })),
});

/** Runs the ledger. @returns the position from which it would see a trace's messages again, were it to grow */
async function account(traceId: string): Promise<number> {
  await accountTraces(60);
  const { rows } = await pool().query("select accounted_to, ledger_due from trace where id = $1", [traceId]);
  expect(rows[0].ledger_due).toBe(false);
  return rows[0].accounted_to;
}
const accountAll = () => accountTraces(60);

const readRows = async (traceId: string) =>
  (
    await pool().query<{ row: string }>(
      `select concat_ws(' ', position, action, path, name, added, removed) as row from trace_file
       where user_id = $1 and trace_id = $2 order by position, path`,
      [userId, traceId],
    )
  ).rows.map(({ row }) => row);
const readSums = async (traceId: string) =>
  (await pool().query("select files_changed, lines_added, lines_removed from trace where id = $1", [traceId])).rows[0];

describe("the rows of a trace's files", () => {
  const parts = [
    word("Fix it"),
    read("src/A.ts"),
    edit("src/A.ts"),
    call("Edit", { file_path: "src/b.ts", old_string: "x", new_string: "" }, { isError: true }),
    edit("src/A.ts", "c", ""),
    call("Write", { file_path: `${cwd}/new.md`, content: "1\n2\n3\n" }),
    call("Write", { file_path: `${cwd}/late.md`, content: "1\n" }, null),
  ];

  test("say what was read and changed where, and the trace their sums", async () => {
    await send(session("one", ...parts));
    const id = await findId("one");
    expect(await account(id)).toBe(11);
    expect(await readRows(id)).toEqual([
      "1 read src/A.ts a.ts 0 0",
      "3 edit src/A.ts a.ts 2 1",
      "7 edit src/A.ts a.ts 0 1",
      "9 write new.md new.md 3 0",
    ]);
    expect(await readSums(id)).toEqual({ files_changed: 2, lines_added: 5, lines_removed: 2 });
  });

  test("are the same however a trace grew: each time from its first open call on", async () => {
    const whole = session("whole", ...parts, word("go on"), edit("z.ts"));
    await send(whole);
    await account(await findId("whole"));
    const expected = await readRows(await findId("whole"));
    let from = 0;
    for (let count = 1; count <= whole.messages.length; count += 1) {
      await send({ ...whole, sourceId: "grown", messages: whole.messages.slice(0, count) });
      from = await account(await findId("grown"));
    }
    expect(from).toBe(11);
    expect(await readRows(await findId("grown"))).toEqual(expected);
    expect(await readSums(await findId("grown"))).toEqual(await readSums(await findId("whole")));
  });

  test("follow a rewrite, and are gone with the trace", async () => {
    await send(session("one", edit("a.ts"), edit("b.ts")));
    const id = await findId("one");
    await account(id);
    await send({ ...session("one", edit("c.ts")), replace: true });
    await account(id);
    expect(await readRows(id)).toEqual(["0 edit c.ts c.ts 2 1"]);
    await deleteTrace(userId, id, operator);
    await accountTraces(60);
    expect(await readRows(id)).toEqual([]);
  });

  test("have what several calls of one message did with a file together", async () => {
    const calls = ["b", "c\nd"].map((after, at) => {
      const input = { file_path: `${cwd}/a.ts`, old_string: "a", new_string: after };
      return { type: "tool_use", id: `t${at}`, name: "Edit", input };
    });
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" }));
    const raw = (role: string, content: object[]) => ({ role, content: "", metadata: { message: { role, content } } });
    await send(session("one", [raw("assistant", calls), raw("user", results)]));
    const id = await findId("one");
    await account(id);
    expect(await readRows(id)).toEqual(["0 edit a.ts a.ts 3 2"]);
  });

  longTest("are cut at 50,000, which the answer says, also where the trace grows", async () => {
    const many = Array.from({ length: 110 }, (_, at) =>
      call("read_many_files", { paths: Array.from({ length: 500 }, (_, file) => `f${at}-${file}`) }),
    );
    await send(session("many", ...many));
    const id = await findId("many");
    await account(id);
    await send(session("many", ...many, read("more.ts")));
    await account(id);
    const { rows } = await pool().query("select count(*)::int as rows from trace_file where trace_id = $1", [id]);
    expect(rows[0].rows).toBe(maxTouches);
    expect(await listTraceFiles(userId, id, { action: "any", limit: 1 })).toMatchObject({ cut: true, pending: false });
  });
});

test("a session's outline has the same files before and after they were counted", async () => {
  await send(session("one", read("x.ts"), edit("a.ts"), edit("b.ts"), read("a.ts"), edit("a.ts")));
  const id = await findId("one");
  const before = await readOutline(userId, id);
  await account(id);
  const after = await readOutline(userId, id);
  expect(after).toEqual(before);
  expect(after.files.map(({ path, reads, edits, added }) => [path, reads, edits, added])).toEqual([
    ["a.ts", 1, 2, 4],
    ["b.ts", 0, 1, 2],
    ["x.ts", 1, 0, 0],
  ]);
});

describe("a search that names files", () => {
  beforeEach(async () => {
    await send(session("one", word("alpha"), edit("src/X.ts"), read("a b.md")));
    await send(session("two", word("alpha"), read("lib/x.ts")));
    await send(session("three", word("beta"), edit("src/y.ts")));
    await accountAll();
    await indexAll();
  });
  const search = (q: string, filter = {}) => searchSourceIds(userId, q, filter);

  test.each<[string, string[]]>([
    ["file:x.ts", ["one", "two"]],
    ["FILE:X.TS", ["one", "two"]],
    ["file:src/x.ts", ["one"]],
    ["file:./src/x.ts", ["one"]],
    ["file:rc/x.ts", []],
    ["file:.ts", []],
    ['file:"a b.md"', ["one"]],
    ["file:x.ts -file:lib/x.ts", ["one"]],
    ["-file:x.ts", ["three"]],
    ["alpha file:x.ts", ["one", "two"]],
    ["beta file:x.ts", []],
    ["alpha -file:src/x.ts", ["two"]],
    ["file:x.ts file:y.ts", []],
    ["file:%", []],
    ["changed:x.ts", ["one"]],
    ["changed:lib/x.ts", []],
    ["file:x.ts -changed:x.ts", ["two"]],
    ["alpha changed:x.ts", ["one"]],
    ["alpha -changed:x.ts", ["two"]],
  ])("%s", async (q, expected) => {
    expect(await search(q)).toEqual([...expected].sort());
    expect(await countTraces(userId, { q }, 100)).toBe(expected.length);
  });

  test("takes the list's filters, pages and neighbours", async () => {
    expect(await search("file:x.ts", { project: "web" })).toEqual([]);
    expect(await search("file:x.ts", { to: "2020-01-01T00:00:00Z" })).toEqual([]);
    const { newer, older } = await neighbours(userId, await findId("one"), { q: "file:x.ts" });
    expect([newer?.title ?? older?.title]).toEqual(["About two"]);
    await expect(search("file:a ".repeat(9))).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("finds a session anew when it was deleted nowhere", async () => {
    await pool().query("update trace set deleted_at = now() where id = $1", [await findId("one")]);
    expect(await search("file:x.ts")).toEqual(["two"]);
  });
});

describe("the sessions that touched a file", () => {
  const found = async (path: string, more = {}) => {
    const query = { path, action: "any", limit: 50, ...more } as const;
    const { files } = await listTouching(userId, query);
    return files.map(
      (file) => `${file.title}: ${file.path} ${file.reads}/${file.edits} +${file.added} −${file.removed}`,
    );
  };

  test("come newest first, a page at a time, each path on its own", async () => {
    await send(session("one", read("x.ts"), edit("x.ts"), edit("lib/x.ts")));
    await send(session("two", read("x.ts")));
    await accountAll();
    const all = ["About two: x.ts 1/0 +0 −0", "About one: lib/x.ts 0/1 +2 −1", "About one: x.ts 1/1 +2 −1"];
    expect(await found("x.ts")).toEqual(all);
    expect(await found("lib/x.ts")).toEqual(all.slice(1, 2));
    expect(await found("x.ts", { action: "changed" })).toEqual(all.slice(1));
    expect(await found("x.ts", { action: "read" })).toEqual([all[0], all[2]]);
    const paged: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listTouching(userId, { path: "x.ts", action: "any", limit: 1, cursor: cursor ?? undefined });
      paged.push(...page.files.map(({ title, path }) => `${title}: ${path}`));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all.map((line) => line.slice(0, line.indexOf(" ", line.indexOf(": ") + 2))));
    const odd = Buffer.from(JSON.stringify(["2026-11-20T10:00:00Z", randomUUID(), "a\0b"])).toString("base64url");
    for (const cursor of ["x", odd])
      await expect(found("x.ts", { cursor })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("come in the same order where nearly all sessions touched the file", async () => {
    await send(session("one", read("x.ts")));
    await send(session("two", read("x.ts")));
    await accountAll();
    await pool().query(
      `insert into trace_file (user_id, trace_id, position, path, name, action, added, removed, replayed, counted)
       select $1, $2, position, 'x.ts', 'x.ts', 'read', 0, 0, false, true from generate_series(100, 3099) as position`,
      [userId, await findId("one")],
    );
    expect(await found("x.ts")).toEqual(["About two: x.ts 1/0 +0 −0", "About one: x.ts 3001/0 +0 −0"]);
    const first = await listTouching(userId, { path: "x.ts", action: "any", limit: 1 });
    expect(await found("x.ts", { cursor: first.nextCursor })).toEqual(["About one: x.ts 3001/0 +0 −0"]);
    expect(await found("x.ts", { action: "changed" })).toEqual([]);
    expect(await searchSourceIds(userId, "file:x.ts")).toEqual(["one", "two"]);
    expect(await searchSourceIds(userId, "file:x.ts -changed:x.ts")).toEqual(["one", "two"]);
  });

  test("a stranger sees nothing of them, and nothing of a session's files", async () => {
    await send(session("one", edit("x.ts")));
    await accountAll();
    const stranger = await makeUser({ ...owner, email: "eve@example.org" });
    expect(await listTouching(stranger, { path: "x.ts", action: "any", limit: 50 })).toEqual({
      files: [],
      nextCursor: null,
    });
    expect(await searchSourceIds(stranger, "file:x.ts")).toEqual([]);
    const id = await findId("one");
    await expect(listTraceFiles(stranger, id, { action: "any", limit: 9 })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("a session's own files come changed first, a page at a time, and say what waits", async () => {
    await send(session("one", read("r.ts"), edit("x.ts"), edit("a.ts"), read("x.ts")));
    const id = await findId("one");
    expect(await listTraceFiles(userId, id, { action: "any", limit: 9 })).toMatchObject({ files: [], pending: true });
    await account(id);
    const paths: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listTraceFiles(userId, id, { action: "any", limit: 1, cursor: cursor ?? undefined });
      paths.push(...page.files.map(({ path }) => path));
      cursor = page.nextCursor;
    }
    expect(paths).toEqual(["x.ts", "a.ts", "r.ts"]);
    const changed = await listTraceFiles(userId, id, { action: "changed", limit: 9 });
    expect(changed.files.map(({ path }) => path)).toEqual(["x.ts", "a.ts"]);
  });
});
