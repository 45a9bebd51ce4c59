import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { countSelection, deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { exportTraces } from "#lib/traces/export/export";
import { purgeDeleted } from "#lib/traces/purge";
import { listTraces } from "#lib/traces/queries";
import { trace } from "../support/ingesting.ts";
import { isLong } from "../support/long.ts";
import { afterNext } from "../support/meanwhile.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);
beforeEach(async () => {
  await pool().query("delete from trace");
});

/** Stores traces in SQL, each with the same number of messages. */
async function store(traces: number, messagesEach: number, owner = userId): Promise<void> {
  await pool().query(
    `insert into trace (user_id, id, source, source_id, project, message_count, token_count, content_hash, upload_sequence,
       activity_at, stored_at)
     select $1, gen_random_uuid(), 'test', n, 'p' || n % 10, $3, 0, '', 1, now() - n * interval '1 minute', now()
     from generate_series(1, $2) n`,
    [owner, traces, messagesEach],
  );
  await pool().query(
    `insert into message (user_id, trace_id, position, content)
     select user_id, id, p, 'text' from trace, generate_series(1, $2) p where user_id = $1`,
    [owner, messagesEach],
  );
}

const readRows = async (table: "message" | "trace", owner = userId) =>
  Number((await pool().query(`select count(*) from ${table} where user_id = $1`, [owner])).rows[0].count);
const listed = async () => (await listTraces(userId, {}, { limit: 200 })).traces;
const exported = async () => (await new Response(await exportTraces(userId, {})).text()).split("\n").length - 1;
const lastEvent = async () =>
  (await pool().query("select action, subject from audit_event order by id desc limit 1")).rows[0];

describe("deleting many traces", () => {
  test("hides them at once and removes their messages in bounded transactions", async () => {
    const traces = isLong ? 3000 : 1100;
    const messages = 10 * traces;
    await store(traces, 10);
    const { countedAt, mark, ...count } = await countSelection(userId, {});
    expect(count).toEqual({ traces, messages });
    expect(await deleteSelection(userId, { storedUntil: countedAt }, mark, operator)).toBe(traces);
    expect([await listed(), await exported()]).toEqual([[], 0]);
    expect(await lastEvent()).toEqual({ action: "traces_deleted", subject: `${traces} sessions` });
    expect(await readRows("message")).toBe(messages);
    await purgeDeleted(0.001);
    // A transaction takes 500 traces.
    expect(await readRows("message")).toBe(messages - 5000);
    await Promise.all([purgeDeleted(30), purgeDeleted(30)]);
    expect([await readRows("message"), await readRows("trace")]).toEqual([0, traces]);
    expect(await purgeDeleted(1)).toBe(0);
  });

  test("resumes after an interruption", async () => {
    await store(1000, 20);
    const { mark } = await countSelection(userId, {});
    await deleteSelection(userId, {}, mark, operator);
    const afterRemoval = (act: () => Promise<unknown>) => afterNext('DELETE FROM "public"."message"', act);
    afterRemoval(async () => afterRemoval(() => Promise.reject(new Error("broken"))));
    await expect(purgeDeleted(30)).rejects.toThrow("broken");
    expect(await readRows("message")).toBe(10_000);
    await purgeDeleted(30);
    expect(await readRows("message")).toBe(0);
  });
});

describe("a deletion takes exactly what was counted", () => {
  test("a trace that arrives in between stays, and the counted ones are deleted", async () => {
    await store(3, 2);
    const { countedAt, mark } = await countSelection(userId, {});
    await pool().query("select pg_sleep(0.01)");
    await send(trace("late", "a"));
    expect(await deleteSelection(userId, { storedUntil: countedAt }, mark, operator)).toBe(3);
    expect(await listed()).toMatchObject([{ sourceId: "late" }]);
    expect(await readRows("message")).toBe(1);
  });

  test("where a counted trace changed or was deleted in between, nothing is deleted", async () => {
    await send(trace("grows", "a"), trace("other", "a"));
    const { countedAt, mark } = await countSelection(userId, {});
    await pool().query("select pg_sleep(0.01)");
    await send(trace("grows", "a", "b"));
    expect(await deleteSelection(userId, { storedUntil: countedAt }, mark, operator)).toBeUndefined();
    expect(await listed()).toHaveLength(2);
    const again = await countSelection(userId, {});
    const [gone] = await listed();
    await deleteTrace(userId, gone?.id ?? "", operator);
    expect(await deleteSelection(userId, { storedUntil: again.countedAt }, again.mark, operator)).toBeUndefined();
    expect(await listed()).toHaveLength(1);
  });

  test("a filter and ids both narrow it, and another user's ids match nothing", async () => {
    await store(20, 1);
    const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    await store(2, 1, other);
    const { rows } = await pool().query<{ id: string }>("select id from trace where user_id = $1", [other]);
    const strange = { ids: rows.map(({ id }) => id) };
    expect(await countSelection(userId, strange)).toMatchObject({ traces: 0, messages: 0, mark: "0" });
    expect(await deleteSelection(userId, strange, "0", operator)).toBe(0);
    const { mark } = await countSelection(userId, { project: "p3" });
    expect(await deleteSelection(userId, { project: "p3" }, mark, operator)).toBe(2);
    expect([(await listed()).length, await readRows("trace", other), await readRows("message", other)]).toEqual([
      18, 2, 2,
    ]);
  });

  test("a later sync does not bring deleted traces back", async () => {
    await send(trace("one", "a"), trace("two", "a"));
    const { mark } = await countSelection(userId, {});
    await deleteSelection(userId, {}, mark, operator);
    expect(await readRows("message")).toBe(0); // so few go at once
    const again = await send(trace("one", "a", "b"), trace("two", "a"));
    expect(again).toMatchObject({ traces: { kept: 2 }, messages: { written: 0 } });
    expect(await listed()).toEqual([]);
  });

  test("concurrent uploads of the same traces neither fail nor make it fail", async () => {
    const traces = Array.from({ length: 40 }, (_, n) => trace(`busy-${n}`, "a"));
    await send(...traces);
    const grown = traces.map(({ sourceId }) => trace(sourceId, "a", "b")).reverse();
    const { mark } = await countSelection(userId, {});
    const [deleted, ...jobs] = await Promise.all([
      deleteSelection(userId, {}, mark, operator),
      ...Array.from({ length: 4 }, () => send(...grown)),
    ]);
    expect(deleted).toBe(40);
    expect(jobs.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
    expect([await listed(), await readRows("message")]).toEqual([[], 0]);
  });
});

test("an export fails where a trace is deleted while it is sent", async () => {
  await store(30, 3);
  const reader = (await exportTraces(userId, {})).getReader();
  await reader.read();
  await pool().query("update trace set deleted_at = now()");
  await pool().query("delete from message");
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toThrow("deleted or shortened");
});
