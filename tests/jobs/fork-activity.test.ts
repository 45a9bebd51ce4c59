import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { readFamilies } from "#lib/traces/family";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

const message = (position: number, minute: number, isReplayed: boolean) => ({
  position,
  role: position % 2 === 0 ? "user" : "assistant",
  content: `message ${position}`,
  tokenCount: 1,
  createdAt: new Date(Date.parse("2026-03-02T10:00:00Z") + minute * 60_000).toISOString(),
  ...(isReplayed && { metadata: { replayed: true } }),
});
const original = [0, 1, 2, 3].map((at) => message(at, at, false));
const copied = [0, 1, 2, 3].map((at) => message(at, at, true));
const own = [message(4, 60, false), message(5, 62, false)];

/** What counts of the fork: its time, its turns, and its messages and tokens by day. */
async function readFork() {
  await accountTraces(60);
  const { rows } = await pool().query(
    `select t.active_seconds as active, t.turn_count as turns, sum(u.messages)::int as messages, sum(u.tokens)::int as tokens,
       sum((select sum(piece) from unnest(u.quarter_seconds) as piece))::int as seconds
     from trace t left join trace_usage u on u.user_id = t.user_id and u.trace_id = t.id
     where t.user_id = $1 and t.source_id = 'fork' group by t.user_id, t.id, t.active_seconds, t.turn_count`,
    [userId],
  );
  return rows[0];
}
const sendFork = (messages: object[], metadata: object = { forkedFrom: "original" }) =>
  send({ sourceId: "fork", source: "codex-cli", messages, metadata });
afterEach(async () => {
  await pool().query("delete from trace");
  await pool().query("delete from trace_usage");
  await pool().query("delete from message_usage");
});

test("a fork's time, turns, messages and tokens are its own, also as it grows and is read anew", async () => {
  await send({ sourceId: "original", source: "codex-cli", messages: original });
  await sendFork([...copied, own[0] ?? {}]);
  expect(await readFork()).toEqual({ active: 0, turns: 1, messages: 1, tokens: 1, seconds: 0 });
  await sendFork([...copied, ...own]);
  const grown = { active: 120, turns: 1, messages: 2, tokens: 2, seconds: 120 };
  expect(await readFork()).toEqual(grown);
  await pool().query("update trace set ledger_due = true, accounted_version = 0 where user_id = $1", [userId]);
  expect(await readFork()).toEqual(grown);
  await send({ sourceId: "fork", source: "codex-cli", messages: copied, replace: true, metadata: { forkedFrom: "o" } });
  expect(await readFork()).toEqual({ active: 0, turns: 0, messages: null, tokens: null, seconds: null });
});

test.each(["parent", "continues"])(
  "what a session copied of its %s counts there alone, also as it grows",
  async (relation) => {
    await send({ sourceId: "original", source: "codex-cli", messages: original });
    await sendFork([...copied, own[0] ?? {}], { [relation]: "original" });
    expect(await readFork()).toMatchObject({ messages: 1, tokens: 1 });
    await sendFork([...copied, ...own], { [relation]: "original" });
    expect(await readFork()).toMatchObject({ messages: 2, tokens: 2 });
  },
);

/** The messages that count of each session. */
async function countMessages(...sourceIds: string[]): Promise<number[]> {
  await accountTraces(60);
  const { rows } = await pool().query(
    `select t.source_id, sum(u.messages)::int as messages from trace t
     join trace_usage u on u.user_id = t.user_id and u.trace_id = t.id group by t.source_id`,
  );
  return sourceIds.map((id) => rows.find((row) => row.source_id === id)?.messages ?? 0);
}

const used = (messages: ReturnType<typeof message>[], isReplayed: boolean) =>
  messages.map((one) => ({
    ...one,
    metadata: {
      ...(isReplayed && { replayed: true }),
      ...(one.role === "assistant" && {
        requestId: `r${one.position}`,
        [isReplayed ? "copiedUsage" : "usage"]: { inputTokens: 5, outputTokens: 1 },
      }),
    },
  }));

async function deleteSession(sourceId: string): Promise<void> {
  const { rows } = await pool().query("select id from trace where source_id = $1", [sourceId]);
  await deleteTrace(userId, rows[0].id, operator);
}

test("a copied message counts in the original while that is stored, and else in one of its copies", async () => {
  const copies = used(original, true);
  const fork = (sourceId: string, messages: object[]) =>
    send({ sourceId, source: "codex-cli", messages, metadata: { forkedFrom: "original" } });
  await fork("fork", [...copies.slice(0, 2), ...own]);
  expect(await countMessages("fork")).toEqual([4]);
  await fork("longer", copies);
  expect(await countMessages("fork", "longer")).toEqual([4, 2]);
  await send({ sourceId: "original", source: "codex-cli", messages: used(original, false) });
  expect(await countMessages("original", "fork", "longer")).toEqual([4, 2, 0]);
  await deleteSession("original");
  expect(await countMessages("original", "fork", "longer")).toEqual([0, 4, 2]);
});

/** As of a session that was resumed on a machine that does not have the original. */
const unmarked = used([...original, message(4, 60, false)], false);

test("a copied message that no client marked counts in the oldest session that is stored", async () => {
  const start = "2026-03-02T10:00:00Z";
  const resumed = (messages: object[]) =>
    send({ sourceId: "resumed", source: "codex-cli", messages, createdAt: "2026-03-02T10:00:01Z" });
  await resumed(unmarked);
  expect(await countMessages("resumed")).toEqual([5]);
  await send({ sourceId: "original", source: "codex-cli", messages: used(original, false), createdAt: start });
  expect(await countMessages("original", "resumed")).toEqual([4, 1]);
  await resumed([...unmarked, ...used([message(5, 62, false)], false)]);
  expect(await countMessages("original", "resumed")).toEqual([4, 2]);
  await expectSums();
  await expectSameAnew();
  await deleteSession("original");
  expect(await countMessages("original", "resumed")).toEqual([0, 6]);
  await expectSums();
});

test("a message that only looks like another session's counts in both", async () => {
  const later = used(original, false).map((one) => ({ ...one, content: `${one.content}, said anew` }));
  await send({ sourceId: "original", source: "codex-cli", messages: used(original, false) });
  await send({ sourceId: "other", source: "codex-cli", messages: later });
  expect(await countMessages("original", "other")).toEqual([4, 4]);
  await expectSums();
});

test("a family's messages are counted without those that a fork copied", async () => {
  await send({ sourceId: "original", source: "codex-cli", messages: original });
  await sendFork([...copied, ...own]);
  await accountTraces(60);
  const { rows } = await pool().query("select id from trace where source_id = 'original'");
  const family = (await readFamilies(userId, [rows[0].id], 10)).get(rows[0].id);
  expect(family).toMatchObject({ counts: { fork: 1 }, sums: { messages: 2 }, members: [{ own: { messages: 6 } }] });
});
