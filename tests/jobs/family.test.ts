import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import type { Selection } from "#lib/search/sql/selection";
import { deleteTrace } from "#lib/traces/deletion";
import { countChanges, countTraces } from "#lib/traces/facets";
import { findStarted, findSubagents, readFamilies, readTraceOrigins } from "#lib/traces/family";
import { listPage, listTraces, neighbours } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

beforeEach(async () => {
  await pool().query("delete from trace");
});

/** Accounts for all traces that are due. */
const account = () => accountTraces(30);

type Message = { position: number; content: string; createdAt?: string; metadata?: Record<string, unknown> };
const say = (position: number, content = "words", metadata?: Record<string, unknown>): Message => ({
  position,
  content,
  createdAt: `2026-03-02T10:${String(position).padStart(2, "0")}:00Z`,
  ...(metadata && { metadata }),
});
/** The message that is the result of a sub-agent's work. */
const makeResult = (position: number, session: string) => say(position, "report", { result: { callId: "c", session } });

const session = (sourceId: string, metadata: Record<string, unknown> = {}, messages: Message[] = [say(0)]) => ({
  source: "claude-code",
  sourceId,
  metadata,
  messages,
});

/** Each session as "relation of parent@position", by its source id; "root" for one without a parent. */
async function family(): Promise<Record<string, string>> {
  const { rows } = await pool().query(
    `select child.source_id as child, child.parent_relation as relation, child.parent_position as position,
       parent.source_id as parent from trace child
     left join trace parent on parent.user_id = child.user_id and parent.id = child.parent_id
     where child.deleted_at is null order by 1`,
  );
  const words = ({ relation, parent, position }: (typeof rows)[number]) =>
    parent ? `${relation} of ${parent}${position === null ? "" : `@${position}`}` : "root";
  return Object.fromEntries(rows.map((row) => [row.child, words(row)]));
}

const findId = async (sourceId: string): Promise<string> =>
  (await pool().query("select id from trace where source_id = $1", [sourceId])).rows[0].id;

describe("sessions are linked to the one that they came from", () => {
  const main = session("main", {}, [say(0), say(1), makeResult(2, "main/agent-a"), makeResult(3, "main/agent-b")]);
  const agent = (name: string) => session(`main/agent-${name}`, { parent: "main" });

  test("in one upload, or in any order of several", async () => {
    await send(main, agent("a"), agent("b"), session("copy", { forkedFrom: "main" }));
    await account();
    const whole = {
      copy: "fork of main",
      main: "root",
      "main/agent-a": "subagent of main@2",
      "main/agent-b": "subagent of main@3",
    };
    expect(await family()).toEqual(whole);
    for (const order of [
      [agent("a"), main, agent("b")],
      [main, agent("b"), agent("a")],
      [agent("b"), agent("a"), main],
    ]) {
      await pool().query("delete from trace");
      for (const one of [...order, session("copy", { forkedFrom: "main" })]) {
        await send(one);
        await account();
      }
      expect(await family()).toEqual(whole);
    }
  });

  test("also while they grow, and where the place in the parent is known later or changes", async () => {
    const [first, second, third] = main.messages as [Message, Message, Message];
    await send({ ...main, messages: [first, second] }, agent("a"));
    await account();
    expect((await family())["main/agent-a"]).toBe("subagent of main");
    await send({ ...main, messages: [first, second, third] });
    await account();
    expect((await family())["main/agent-a"]).toBe("subagent of main@2");
    await send({ ...agent("a"), messages: [say(0), say(1)] });
    await account();
    expect((await family())["main/agent-a"]).toBe("subagent of main@2");
    await send({ ...main, replace: true, messages: [first, second, say(2), makeResult(3, "main/agent-a")] });
    await account();
    expect((await family())["main/agent-a"]).toBe("subagent of main@3");
    await send({ ...main, replace: true, messages: [first, second] });
    await account();
    expect((await family())["main/agent-a"]).toBe("subagent of main");
  });

  test("where only ids or an older version's lines tell", async () => {
    await send(
      session("s"),
      session("s/agent-x"),
      session("s/sidechain"),
      session("agent-old", {}, [say(0, "w", { sessionId: "s", isSidechain: true }), say(1)]),
      { ...session("s/agent-x"), source: "other" },
    );
    await account();
    expect((await family())["s/sidechain"]).toBe("subagent of s");
    await send(session("agent-old", {}, [say(0, "w", { sessionId: "s", isSidechain: true }), say(1), say(2)]));
    await account();
    expect(await family()).toMatchObject({ "agent-old": "subagent of s", s: "root" });
    const { rows } = await pool().query(
      "select source, parent_id is null as root from trace where source_id = 's/agent-x' order by 1",
    );
    expect(rows).toEqual([
      { source: "claude-code", root: false },
      { source: "other", root: true },
    ]);
  });

  test("as a continuation, whichever of the two says so", async () => {
    for (const order of [
      ["old", "new", "copy"],
      ["copy", "new", "old"],
    ]) {
      await pool().query("delete from trace");
      const all: Record<string, object> = {
        old: session("old", { continuedIn: "copy" }),
        copy: session("copy", { forkedFrom: "old" }),
        new: session("new", { continues: "copy" }),
      };
      for (const name of order) {
        await send(all[name]);
        await account();
      }
      expect(await family()).toEqual({ copy: "continuation of old", new: "continuation of copy", old: "root" });
    }
    await pool().query("delete from trace");
    await send(session("next"));
    await account();
    await send(session("first", {}));
    await account();
    await send(session("first", { continuedIn: "next" }));
    await account();
    expect(await family()).toEqual({ first: "root", next: "continuation of first" });
  });
});

test("deleting a parent makes its children roots again, at once, and sending it again does not bring it back", async () => {
  const all = [
    session("main", {}, [say(0), makeResult(1, "main/agent-a")]),
    session("main/agent-a", { parent: "main" }),
    session("main/agent-a/agent-b", { parent: "main/agent-a" }),
  ];
  await send(...all);
  await account();
  await deleteTrace(userId, await findId("main"), operator);
  const left = { "main/agent-a": "root", "main/agent-a/agent-b": "subagent of main/agent-a" };
  expect(await family()).toEqual(left);
  await account();
  await send(...all.map((one) => ({ ...one, messages: [...one.messages, say(5)] })));
  await account();
  expect(await family()).toEqual(left);
  const { rows } = await pool().query(
    "select parent_source_id, parent_relation, parent_id, continued_in, children_at from trace where deleted_at is not null",
  );
  expect(rows.map((row) => Object.values(row).every((value) => value === null))).toEqual([true]);
});

describe("a circle hides nothing", () => {
  test("of a session with itself, of two, and of what hangs below them", async () => {
    const all = [
      session("self", { parent: "self" }),
      session("a", { parent: "b" }),
      session("b", { parent: "a" }),
      session("below", { parent: "a" }),
    ];
    const expected = { a: "root", b: "root", below: "subagent of a", self: "root" };
    await send(...all);
    await account();
    expect(await family()).toEqual(expected);
    await pool().query("delete from trace");
    for (const one of all.toReversed()) {
      await send(one);
      await account();
    }
    expect(await family()).toEqual(expected);
  });

  test("of a chain that is longer than any is followed", async () => {
    const chain = Array.from({ length: 250 }, (_, n) => session(`n${n}`, { parent: `n${(n + 1) % 250}` }));
    await send(...chain);
    await account();
    const { rows } = await pool().query(
      `with recursive reached as (
         select id from trace where user_id = $1 and parent_id is null
         union all select trace.id from reached join trace on trace.user_id = $1 and trace.parent_id = reached.id
       ) select count(*)::int as count from reached`,
      [userId],
    );
    expect(rows).toEqual([{ count: 250 }]);
  });
});

test("a session comes up in the list where something below it was active later", async () => {
  const at = (hour: string) => [{ position: 0, content: "w", createdAt: `2026-03-02T${hour}:00:00Z` }];
  await send(session("main", {}, at("10")));
  await send(session("a", { parent: "main" }, at("12")), session("b", { parent: "a" }, at("15")));
  await account();
  const latest = async () => {
    const { rows } = await pool().query("select source_id, children_at from trace order by 1");
    return rows.map(({ children_at }) => children_at?.toISOString().slice(11, 13));
  };
  expect(await latest()).toEqual(["15", undefined, "15"]);
  await send(
    session("b", { parent: "a" }, [...at("15"), { position: 1, content: "w", createdAt: "2026-03-02T16:00:00Z" }]),
  );
  await account();
  expect(await latest()).toEqual(["16", undefined, "16"]);
  await deleteTrace(userId, await findId("b"), operator);
  await account();
  expect(await latest()).toEqual([undefined, undefined, "16"]);
});

describe("lists of families", () => {
  const titles = (traces: { sourceId: string }[]) => traces.map(({ sourceId }) => sourceId);
  const at = (hour: string, sourceId: string, metadata = {}) =>
    session(sourceId, metadata, [{ position: 0, content: "w", createdAt: `2026-03-02T${hour}:00:00Z` }]);

  beforeEach(async () => {
    await send(at("10", "main"), at("11", "other"), at("12", "a", { parent: "main" }), at("13", "b", { parent: "a" }));
    await send(at("09", "last"), at("14", "fork", { forkedFrom: "main" }));
    await account();
  });

  test("have roots only, by the latest activity of each family, in pages and with neighbours", async () => {
    const first = await listPage(userId, { families: true }, { limit: 2 });
    expect(titles(first.traces)).toEqual(["main", "other"]);
    expect(first.traces[0]).toMatchObject({
      latestAt: "2026-03-02T14:00:00.000Z",
      updatedAt: "2026-03-02T10:00:00.000Z",
    });
    const rest = await listPage(userId, { families: true }, { limit: 2, cursor: first.nextCursor ?? "" });
    expect([titles(rest.traces), rest.nextCursor]).toEqual([["last"], null]);
    expect(await countTraces(userId, { families: true }, 10)).toBe(3);
    expect(await neighbours(userId, await findId("other"), { families: true })).toMatchObject({
      newer: { id: await findId("main") },
      older: { id: await findId("last") },
    });
    const place = { id: await findId("main"), activityAt: "2026-03-02T13:30:00.000Z" };
    expect(await countChanges(userId, { roots: true }, place)).toBe(1);
    expect(await countChanges(userId, { roots: true }, { ...place, activityAt: "2026-03-02T14:00:00.000Z" })).toBe(0);
  });

  test("of the API stay flat, in the order of the traces' own activity", async () => {
    const list = async (selection: Selection) => titles((await listTraces(userId, selection, { limit: 9 })).traces);
    expect(await list({})).toEqual(["fork", "b", "a", "other", "main", "last"]);
    expect(await list({ roots: true })).toEqual(["other", "main", "last"]);
    expect(await list({ parent: await findId("main") })).toEqual(["fork", "a"]);
    expect(await list({ parent: await findId("last") })).toEqual([]);
    const [fork] = (await listTraces(userId, {}, { limit: 1 })).traces;
    expect(fork).toMatchObject({ parentId: await findId("main"), parentRelation: "fork" });
    await deleteTrace(userId, await findId("main"), operator);
    expect((await listTraces(userId, {}, { limit: 1 })).traces[0]).toMatchObject({
      parentId: null,
      parentRelation: null,
    });
  });

  test("know what is below a session, with sums, and what it is of", async () => {
    const [main, a, b] = [await findId("main"), await findId("a"), await findId("b")];
    const family = (await readFamilies(userId, [main], 10)).get(main);
    expect(family).toMatchObject({
      counts: { subagent: 1, fork: 1, continuation: 0 },
      below: 3,
      sums: { messages: 3 },
    });
    expect(family?.members.map(({ id, below }) => [id, below])).toEqual([
      [a, 1],
      [await findId("fork"), 0],
    ]);
    expect((await findSubagents(userId, [main, a])).sort()).toEqual([b]);
    expect((await readTraceOrigins(userId, [main, b])).get(b)).toMatchObject({ relation: "subagent", parentId: a });
    expect((await findStarted(userId, main, ["a", "main", "nothing"])).get("a")).toMatchObject({ id: a, messages: 1 });
    const stranger = "00000000-0000-4000-8000-000000000000";
    expect((await readFamilies(stranger, [main], 10)).size).toBe(0);
    expect((await findStarted(stranger, main, ["a"])).size).toBe(0);
    expect((await readTraceOrigins(stranger, [b])).size).toBe(0);
  });
});
