import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { provideOwner } from "../support/server.ts";
import { expectSums } from "./ledger-sums.ts";
import { clearTraces } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
async function clear(): Promise<void> {
  await clearTraces();
  for (const table of ["trace_usage", "message_usage", "usage_quarter_hour", "usage_facets"])
    await pool().query(`delete from ${table}`);
}
afterEach(clear);

const uuid = (number: number) => `aaaaaaaa-0000-4000-8000-00000000000${number}`;
const usage = (outputTokens: number) => ({ inputTokens: 10, outputTokens });

/** An answer of so many tokens, which knows its line's id alone. */
const answer = (number: number, outputTokens: number, more: object = {}) => ({
  position: number,
  role: "assistant",
  content: `answer ${number}`,
  createdAt: `2026-10-01T10:00:0${number}.123Z`,
  metadata: { uuid: uuid(number), usage: usage(outputTokens), ...more },
});

/** The same, as a client marks it that has seen the original. */
const copy = (number: number, outputTokens: number, more: object = {}) => {
  const { metadata, ...message } = answer(number, outputTokens, more);
  const { usage: copiedUsage, ...others } = metadata;
  return { ...message, metadata: { ...others, replayed: true, copiedUsage } };
};

const session = (sourceId: string, ...messages: object[]) => ({ source: "claude-code", sourceId, messages });
const fork = session("fork", answer(0, 100), answer(1, 50), answer(2, 7));
const marked = session("fork", copy(0, 100), copy(1, 50), answer(2, 7));
const original = session("original", answer(0, 100), answer(1, 50));

/** The output tokens of sessions, each of which counts what no other one does. */
async function outputs(...sourceIds: string[]) {
  await accountTraces(30);
  await expectSums();
  const { rows } = await pool().query("select source_id as id, output_tokens as tokens from trace");
  return sourceIds.map((sourceId) => Number(rows.find(({ id }) => id === sourceId)?.tokens));
}

const remove = async (sourceId: string) => deleteTrace(userId, (await stored(sourceId))?.id ?? "", operator);

test("an answer that another machine's session has counts once, whichever comes first, also without a request's id", async () => {
  await send(fork);
  expect(await outputs("fork")).toEqual([157]);
  await send(original);
  expect((await outputs("fork", "original")).reduce((sum, one) => sum + one)).toBe(157);
  await clear();
  await send(original);
  await send(fork);
  expect((await outputs("fork", "original")).reduce((sum, one) => sum + one)).toBe(157);
});

test("what was copied counts in the original as long as that is there, and else in the copy", async () => {
  await send(marked);
  expect(await outputs("fork")).toEqual([157]);
  await send(original);
  expect(await outputs("fork", "original")).toEqual([7, 150]);
  await send(session("second", copy(0, 100), copy(1, 50), answer(3, 1)));
  expect(await outputs("fork", "original", "second")).toEqual([7, 150, 1]);
  await remove("original");
  expect((await outputs("fork", "second")).toSorted()).toEqual([1, 157]);
});

test("a copy that ends within an answer hides nothing of it, and is hidden by it", async () => {
  const requestId = "req_1";
  await send(session("half", answer(0, 100), answer(1, 3, { requestId })));
  expect(await outputs("half")).toEqual([103]);
  await send(session("whole", answer(0, 100), answer(1, 50, { requestId })));
  expect((await outputs("half", "whole")).reduce((sum, one) => sum + one)).toBe(150);
});

test("answers that only happen to have the same time and tokens are not taken for copies", async () => {
  const plain = (id: string, more: object = {}) =>
    session(id, { ...answer(0, 5, { uuid: undefined, model: "m" }), ...more });
  const second = { createdAt: "2026-10-01T10:00:00Z" };
  await send(plain("one", second), plain("other", second));
  expect(await outputs("one", "other")).toEqual([5, 5]);
  await send(plain("exact"), plain("again"));
  expect((await outputs("exact", "again")).toSorted()).toEqual([0, 5]);
});
