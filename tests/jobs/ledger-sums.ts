import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { requestReaccounting } from "#lib/ledger/version";

const tokens = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "reasoning"].map(
  (name) => `${name}_tokens`,
);
const computeSum = (names: string[]) => names.map((name) => `coalesce(sum(${name}), 0)::text as ${name}`).join(", ");
const unpriced = `sum(case when cost_nano is null then
  input_tokens::bigint + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens end)`;
const tierNotPriced = unpriced.replace("cost_nano is null", "tier_not_priced");
const sums = [...tokens, "cost_nano", "recorded_nano"];
const remarks = ["unpriced_tokens", "tier_not_priced_tokens"];
const remarked = [unpriced, tierNotPriced].map((sum, at) => `coalesce(${sum}, 0)::text as ${remarks[at]}`).join(", ");

const query = async (statement: string, values: unknown[] = []) => (await pool().query(statement, values)).rows;

/** The rows of the ledger, comparable between two makings of them. */
const snapshot = async () => ({
  used: await query("select * from message_usage order by user_id, trace_id, position"),
  counted: await query("select * from trace_usage order by user_id, trace_id, day"),
  quarters: await query("select * from usage_quarter_hour order by user_id, quarter, facets"),
  files: await query("select * from trace_file order by user_id, trace_id, position, path"),
  traces: await query(
    `select id, ${[...sums, ...remarks].join(", ")} from trace where deleted_at is null order by user_id, id`,
  ),
});

/** Compares messages, rows, the sums of days and the sums of traces, with another way of adding up for each. */
export async function expectSums(): Promise<void> {
  expect(await query("select id from trace where ledger_due or usage_due")).toEqual([]);
  const ofTraces = `select trace_id as id, ${computeSum(sums)}, ${remarked}
    from message_usage where counted group by trace_id order by trace_id`;
  // Tables meet by their user alone, so that a distributed database takes these statements, too.
  const isUsed =
    "exists (select from message_usage used where used.user_id = trace.user_id and trace_id = id and counted)";
  const columns = `select id, ${[...sums, ...remarks].map((name) => `coalesce(${name}, 0)::text as ${name}`).join(", ")}
    from trace where ${isUsed} order by id`;
  expect(await query(columns)).toEqual(await query(ofTraces));
  const nothing = [...sums, ...remarks].map((name) => `coalesce(${name}, 0) <> 0`).join(" or ");
  const without = `select id from trace where not ${isUsed} and (${nothing})`;
  expect(await query(without)).toEqual([]);
  const days = `select quarter, facets, ${computeSum([...sums, ...remarks])} from usage_quarter_hour
    group by 1, 2 having ${sums.map((name) => `sum(${name}) <> 0`).join(" or ")} order by 1, 2`;
  const ofDays = `select floor(extract(epoch from at) / 900)::int as quarter, facets, ${computeSum(sums)},
      ${remarked}
    from message_usage where counted group by 1, 2 having ${sums.map((name) => `sum(${name}) <> 0`).join(" or ")} order by 1, 2`;
  expect(await query(days)).toEqual(await query(ofDays));
  const counts = ["messages", "tokens", "untimed", "uncounted"];
  const active = (from: string) =>
    `select quarter, facets, ${computeSum(counts)} from ${from} group by 1, 2 having sum(messages) > 0 order by 1, 2`;
  const quarters = `(select (day - date '1970-01-01') * 96 + unnest(quarters) as quarter, facets,
      ${counts.map((name) => `unnest(quarter_${name}) as ${name}`).join(", ")} from trace_usage) as quarters`;
  expect(await query(active("usage_quarter_hour"))).toEqual(await query(active(quarters)));
  expect(await query("select trace_id, sum(messages)::int as messages from trace_usage group by 1 order by 1")).toEqual(
    await query(
      `select id as trace_id, count(*)::int as messages from trace
       join message on message.user_id = trace.user_id and trace_id = id
         and not (coalesce(trace.metadata ?| array['forkedFrom', 'parent', 'continues'], false)
           and message.metadata->>'replayed' is not distinct from 'true'
           and not coalesce((select counted from message_usage as answer
             where answer.user_id = message.user_id and answer.trace_id = message.trace_id and answer.replayed
             order by (answer.position > message.position) <> (message.role = 'user'),
               abs(answer.position - message.position) limit 1), false))
         and not exists (select from (select request_key from message_usage where message_usage.user_id = trace.user_id
             and trace_id = trace.id and request_key is not null and not replayed order by position limit 10) as answer
           join message_usage as shared on shared.user_id = trace.user_id and shared.request_key = answer.request_key
             and not shared.replayed
           join trace as older on older.user_id = trace.user_id and older.id = shared.trace_id
             and (older.created_at, older.id) < (trace.created_at, trace.id)
           join message as same on same.user_id = trace.user_id and same.trace_id = older.id
             and same.created_at = message.created_at and same.content = message.content
             and same.role is not distinct from message.role and same.metadata->>'replayed' is distinct from 'true')
       where deleted_at is null group by 1 order by 1`,
    ),
  );
  expect(
    await query(`select request_key from message_usage where request_key is not null
      group by user_id, request_key having count(*) filter (where counted) <> 1`),
  ).toEqual([]);
  await expectFiles();
  for (const table of ["message_usage", "trace_usage", "usage_quarter_hour"]) {
    expect(
      await query(`select * from ${table} as used where not exists (
      select from usage_facets named where named.user_id = used.user_id and named.facets = used.facets)`),
    ).toEqual([]);
  }
}

/** Of the touches that several sessions have, one session's count; and what counts of a session's is what its row says. */
async function expectFiles(): Promise<void> {
  expect(
    await query(`select touch_key from trace_file where touch_key is not null
      group by user_id, touch_key having count(distinct trace_id) filter (where counted) <> 1`),
  ).toEqual([]);
  expect(
    await query(`select id from trace cross join lateral (
        select count(distinct path) filter (where action <> 'read') as files, coalesce(sum(added), 0) as added,
          coalesce(sum(removed), 0) as removed
        from trace_file where trace_file.user_id = trace.user_id and trace_id = trace.id and counted) as counted
      where deleted_at is null and (files_changed, lines_added, lines_removed) is distinct from (files, added, removed)`),
  ).toEqual([]);
}

/** Makes the whole ledger anew, and compares it with what it was. */
export async function expectSameAnew(): Promise<void> {
  const before = await snapshot();
  await requestReaccounting();
  await accountTraces(30);
  await expectSums();
  expect(await snapshot()).toEqual(before);
}
