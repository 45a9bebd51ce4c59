import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { countSelection, deleteSelection } from "#lib/traces/deletion";
import { exportTraces } from "#lib/traces/export/export";
import { purgeDeleted } from "#lib/traces/purge";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();

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

describe("deleting 50,000 traces with 200,000 messages", () => {
  test("hides them at once and removes their messages in bounded transactions", { timeout: 60_000 }, async () => {
    await store(50_000, 4);
    const { countedAt, mark, ...count } = await countSelection(userId, {});
    expect(count).toEqual({ traces: 50_000, messages: 200_000 });
    const startedAt = performance.now();
    expect(await deleteSelection(userId, { storedUntil: countedAt }, mark, operator)).toBe(50_000);
    expect(performance.now() - startedAt).toBeLessThan(15_000); // 1.2 s where nothing else runs
    expect([await listed(), await exported()]).toEqual([[], 0]);
    expect(await lastEvent()).toEqual({ action: "traces_deleted", subject: "50000 sessions" });
    expect(await readRows("message")).toBe(200_000);
    await purgeDeleted(0.001);
    const left = await readRows("message");
    expect(left).toBeGreaterThanOrEqual(180_000);
    expect(left).toBeLessThan(200_000);
    await Promise.all([purgeDeleted(30), purgeDeleted(30)]);
    expect([await readRows("message"), await readRows("trace")]).toEqual([0, 50_000]);
    expect(await purgeDeleted(1)).toBe(0);
  });
});
