import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { countChanges } from "#lib/traces/facets";
import { listPage } from "#lib/traces/queries";
import { readStanding } from "#lib/traces/standing";
import { readDigests } from "#lib/usage/digest";
import { countUndated, findLastUse } from "#lib/usage/queries";
import { readNews } from "../../app/(app)/home/news.ts";
import { owner, provideOwner } from "../support/server.ts";
import { indexAll } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

beforeEach(async () => {
  for (const table of ["trace", "trace_usage", "message_usage", "usage_quarter_hour", "usage_facets"])
    await pool().query(`delete from ${table}`);
});

const usage = { input_tokens: 1_000_000, output_tokens: 1000 };
const message = (position: number, createdAt?: Date) => ({
  ...{ position, content: `message ${position}`, role: "assistant" },
  ...(createdAt && { createdAt: createdAt.toISOString() }),
});
const used = { ...message(0), metadata: { usage, model: "claude-opus-4-5" } };
const digests = () => readDigests(userId, { zone: "UTC", now: new Date(), since: new Date(Date.now() - 60_000) });
const nothing = { sessions: 0, messages: 0, costNano: 0, seconds: 0 };
const minutesAgo = (count: number) => new Date(Date.now() - count * 60_000);

test("a session without times is not live, not today's and in no period, and still has its cost", async () => {
  await send({ sourceId: "bare", messages: [used, message(1), message(2)] });
  const standing = async () => {
    const { traces } = await listPage(userId, {}, { limit: 5 });
    return traces[0] && readStanding(userId, traces[0]);
  };
  expect(await standing()).toEqual({ live: false, waiting: null });
  await accountTraces(10);
  expect(await standing()).toEqual({ live: false, waiting: null });
  const { traces } = await listPage(userId, {}, { limit: 5 });
  expect(traces).toMatchObject([{ sourceId: "bare", dated: false, activeSeconds: 0 }]);
  expect(traces[0]?.costNano).toBeGreaterThan(0);
  const { today, week, since } = await digests();
  expect([today, week, since]).toMatchObject([nothing, nothing, nothing]);
  expect(await countUndated(userId)).toBe(1);
  expect(await findLastUse(userId, new Date())).toBeUndefined();
  const { live, fresh, earlier, count } = await readNews({ ...owner, id: userId } as never, "UTC", new Date());
  expect([live.length, fresh.length, earlier.length, count]).toEqual([0, 0, 1, 0]);
  const from = new Date(0).toISOString();
  expect((await listPage(userId, { from }, { limit: 5 })).traces).toEqual([]);
});

test("a session without times stands behind all others, however late it was sent, and clients are told when that was", async () => {
  const content = "where the needle is";
  const old = { sourceId: "old", createdAt: "1000-01-01T00:00:00.000Z", messages: [{ ...message(0), content }] };
  await send({ sourceId: "bare", messages: [{ ...message(0), content }] });
  await send({ sourceId: "late", createdAt: "2026-03-02T10:00:00.000Z", messages: [{ ...message(0), content }] });
  await send({ sourceId: "bare too", messages: [{ ...message(0), content }] });
  await send({ sourceId: "bare", messages: [message(1)], append: { count: 1 } });
  await accountTraces(10);
  await indexAll();
  const order = async (selection = {}, page = {}) =>
    (await listPage(userId, selection, { limit: 5, ...page })).traces.map(({ sourceId }) => sourceId);
  const expected = ["late", "bare too", "bare"];
  expect(await order()).toEqual(expected);
  expect(await order({ families: true })).toEqual(expected);
  expect(await order({}, { sort: "start" })).toEqual(expected);
  expect(await order({ q: "needle" })).toEqual(expected);
  expect((await readNews({ ...owner, id: userId } as never, "UTC", new Date())).earlier).toMatchObject(
    expected.map((sourceId) => ({ sourceId })),
  );
  const cursor = (await listPage(userId, {}, { limit: 2 })).nextCursor ?? undefined;
  expect(await order({}, { cursor })).toEqual(["bare"]);

  const bare = await stored("bare");
  expect(Date.parse(bare?.updatedAt ?? "")).toBeGreaterThan(Date.now() - 60_000);
  const place = { activityAt: bare?.updatedAt ?? "", id: bare?.id ?? "" };
  expect(await countChanges(userId, {}, place)).toBe(2);

  await send(old); // so old that its freshness is no number
  await indexAll();
  expect(await order({ q: "needle" }, { order: "best" })).toHaveLength(4);
});

test("a session without times is dated by its start, and by the times that come later", async () => {
  const createdAt = "2026-03-02T10:00:00.000Z";
  await send({ sourceId: "begun", createdAt, messages: [message(0)] });
  await send({ sourceId: "begun", createdAt, messages: [message(0), message(1)] });
  const later = { sourceId: "later", messages: [message(0)] };
  await send(later);
  await accountTraces(10);
  const begun = await stored("begun");
  expect([begun?.dated, begun?.updatedAt]).toEqual([true, createdAt]);
  expect((await stored("later"))?.dated).toBe(false);
  await send({ ...later, messages: [message(1, new Date(createdAt))], append: { count: 1 } });
  await accountTraces(10);
  const dated = await stored("later");
  expect([dated?.dated, dated?.updatedAt]).toEqual([true, createdAt]);
  expect(await countUndated(userId)).toBe(0);
});

test("the time of a day is its sessions' seconds without pauses, also of those that grow", async () => {
  const now = new Date();
  const midnight = new Date(now.toISOString().slice(0, 10)).getTime();
  const at = (second: number) => new Date(midnight - 86_400_000 + second * 1000);
  const first = [0, 120, 1000, 1300, 1601].map((second, position) => message(position, at(second)));
  await send({ sourceId: "grows", messages: first });
  await accountTraces(10);
  expect((await stored("grows"))?.activeSeconds).toBe(420);
  const read = () => readDigests(userId, { zone: "UTC", now, since: undefined });
  expect((await read()).yesterday.seconds).toBe(420);
  await send({ sourceId: "grows", messages: [message(5, at(1641)), message(6)], append: { count: 5 } });
  await accountTraces(10);
  expect((await stored("grows"))?.activeSeconds).toBe(460);
  expect((await read()).yesterday.seconds).toBe(460);
  const beside = [0, 100, 200, 300, 400, 500].map((second, position) => message(position, at(second)));
  await send({ sourceId: "beside", messages: beside }, { sourceId: "beside 2", messages: beside });
  await accountTraces(10);
  // Of the first quarter of an hour, in which three were active, no more than itself.
  expect((await read()).yesterday.seconds).toBe(900 + 340);
});

test("what a sub-agent without times was started in is not live by it", async () => {
  const source = "claude-code";
  await send({ source, sourceId: "main", messages: [message(0, minutesAgo(60))] });
  await send({ source, sourceId: "main/agent-a", metadata: { parent: "main" }, messages: [message(0)] });
  await accountTraces(10);
  const { traces } = await listPage(userId, { families: true }, { limit: 5 });
  expect(traces.map(({ sourceId }) => sourceId)).toEqual(["main"]);
  expect(traces[0]?.latestAt).toBe(traces[0]?.updatedAt);
});
