import { expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { digestPart } from "#lib/ledger/digest/part";
import { requestReaccounting } from "#lib/ledger/version";
import { deleteTrace } from "#lib/traces/deletion";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

type Fields = Record<string, unknown>;
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 20, 10) + seconds * 1000).toISOString();
const call = (callId: string, name: string, seconds: number) => ({
  ...{ role: "assistant", content: name, createdAt: at(seconds) },
  metadata: { tool: { name, callId, input: { command: "x" }, content: "call" } },
});
const result = (callId: string, seconds: number, isError = false) => ({
  ...{ role: "tool", content: "done", createdAt: at(seconds) },
  metadata: { result: { callId, ...(isError && { isError: true, exitCode: 1 }) } },
});
const user = (content: string, seconds: number) => ({ role: "user", content, createdAt: at(seconds) });
const positioned = (messages: Fields[], from = 0) =>
  messages.map((message, index) => ({ ...message, position: from + index }));

const readRow = async (sourceId: string) => {
  await accountTraces(60);
  const { rows } = await pool().query(
    `select derived_title, title_rank, turn_count, call_count, error_count, active_seconds, tools, spark, trivial from trace
     where user_id = $1 and source_id = $2`,
    [userId, sourceId],
  );
  return rows[0];
};

const session = [
  user("Mend the timer", 0),
  call("1", "Bash", 10),
  result("1", 20, true),
  call("2", "Edit", 30),
  result("2", 40),
  user("And now?", 4000),
  call("3", "Bash", 4010),
  result("3", 4020, true),
];

test("the course of a session is the same whether it was sent whole or in parts", async () => {
  await send({ sourceId: "whole", messages: positioned(session) });
  const whole = await readRow("whole");
  expect(whole).toMatchObject({
    ...{ turn_count: 2, call_count: 3, error_count: 2, active_seconds: 60, trivial: false },
    ...{ tools: "\nBash\nEdit\n", derived_title: "Mend the timer" },
  });
  expect(whole.spark).toMatch(/^9\d{15}$/);
  for (const [index, message] of session.entries()) {
    const part = positioned([message], index);
    await send({ sourceId: "parts", ...(index > 0 && { append: { count: index } }), messages: part });
    await accountTraces(60);
  }
  expect(await readRow("parts")).toEqual(whole);
});

test("a session without content is one until it has some", async () => {
  const echo = { role: "user", content: "<command-name>/exit</command-name>" };
  await send({ sourceId: "empty", messages: positioned([echo]) });
  expect(await readRow("empty")).toMatchObject({ trivial: true, turn_count: 0, derived_title: "/exit" });
  await send({ sourceId: "empty", append: { count: 1 }, messages: positioned([user("Mend the timer", 0)], 1) });
  expect(await readRow("empty")).toMatchObject({ trivial: false, turn_count: 1, derived_title: "Mend the timer" });
});

test("the background job derives what an earlier version stored again", async () => {
  await send({ sourceId: "old", messages: positioned([user("Implement the following plan:\n\n# Watch folders", 0)]) });
  await accountTraces(60);
  await pool().query(
    `update trace set derived_title = 'Implement the following plan:', title_rank = 1, accounted_version = 1, turn_count = 0
     where user_id = $1 and source_id = 'old'`,
    [userId],
  );
  await pool().query("delete from trace_digest");
  await requestReaccounting();
  expect(await readRow("old")).toMatchObject({ derived_title: "Watch folders", title_rank: 11, turn_count: 1 });
});

test("what is derived goes with a deleted session", async () => {
  const { id } = (await stored("whole")) ?? expect.fail("it is not stored");
  await deleteTrace(userId, id, operator);
  expect(await readRow("whole")).toMatchObject({ derived_title: null, error_count: 0, tools: null, spark: null });
  const { rows } = await pool().query("select 1 from trace_digest where trace_id = $1", [id]);
  expect(rows).toEqual([]);
});

test("of long sessions that grew no more are read at once than memory is meant for", async () => {
  const ids = ["long one", "long two"];
  for (const sourceId of ids) await send({ sourceId, messages: positioned(session) });
  await accountTraces(60);
  await pool().query(
    "update trace set message_count = 700000, accounted_to = 699999, ledger_due = true where user_id = $1 and source_id = any($2)",
    [userId, ids],
  );
  const write = vi.spyOn(digestPart, "write");
  expect(await accountTraces(60)).toBe(2);
  expect(write.mock.calls.map(([, , findings]) => findings.length)).toEqual([1, 1]);
  write.mockRestore();
});
