// SQL: conditional updates that never wait for an upload.
import "server-only";
import type { Queryable } from "#lib/db/client";

export type Swept = { target: number; userId: string | null; isDone: boolean };

const keys = { target: "ledger.target", swept: "ledger.swept" };

type Target = { target: number; code: number };

/** Processes of several versions may run at once. */
export async function readSettings(from: Queryable, code: number): Promise<{ target: number; swept: Swept }> {
  const { rows } = await from.query<{ key: string; value: string }>(
    "select key, value from server_setting where key = any($1)",
    [Object.values(keys)],
  );
  const found = new Map(rows.map(({ key, value }) => [key, JSON.parse(value)]));
  const stored: Target | undefined = found.get(keys.target);
  const target = stored && stored.code >= code ? stored.target : await raiseTarget(from, code, stored?.code ?? 0);
  return { target, swept: found.get(keys.swept) ?? { target: 0, userId: null, isDone: false } };
}

/** @param from so that only one of several processes raises it */
export async function raiseTarget(to: Queryable, code: number, from = Number.MAX_SAFE_INTEGER): Promise<number> {
  await to.query("insert into server_setting (key, value, updated_at) values ($1, $2, now()) on conflict do nothing", [
    keys.target,
    JSON.stringify({ target: 0, code: 0 }),
  ]);
  await to.query(
    `update server_setting set updated_at = now(), value = jsonb_build_object(
       'target', (value::jsonb->>'target')::int + 1,
       'code', greatest((value::jsonb->>'code')::int, $2::int))::text
     where key = $1 and (value::jsonb->>'code')::bigint <= $3::bigint`,
    [keys.target, code, from],
  );
  const { rows } = await to.query<{ target: number }>(
    "select (value::jsonb->>'target')::int as target from server_setting where key = $1",
    [keys.target],
  );
  return rows[0]?.target ?? 0;
}

export async function recordSwept(tx: Queryable, swept: Swept): Promise<void> {
  await tx.query(
    `insert into server_setting (key, value, updated_at) values ($1, $2, now())
     on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`,
    [keys.swept, JSON.stringify(swept)],
  );
}

export async function nextUserAfter(tx: Queryable, userId: string | null): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from "user" where $1::uuid is null or id > $1::uuid order by id limit 1`,
    [userId],
  );
  return rows[0]?.id;
}

export async function markOutdated(tx: Queryable, userId: string, target: number, limit: number): Promise<number> {
  const { rowCount } = await tx.query(
    `update trace set ledger_due = true from (
       select id from trace where user_id = $1 and accounted_version < $2 and not ledger_due and deleted_at is null
       limit $3 for no key update skip locked) as outdated
     where trace.user_id = $1 and trace.id = outdated.id`,
    [userId, target, limit],
  );
  return rowCount ?? 0;
}

export async function hasOutdated(tx: Queryable, userId: string, target: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    "select 1 from trace where user_id = $1 and accounted_version < $2 and not ledger_due and deleted_at is null limit 1",
    [userId, target],
  );
  return rowCount === 1;
}

/** A process of the previous release knows only its own mark; its traces are read from the start. */
export async function adoptMarks(from: Queryable): Promise<void> {
  const { rows: users } = await from.query<{ userId: string }>(
    `select distinct user_id as "userId" from trace where usage_due and not ledger_due`,
  );
  for (const { userId } of users) {
    await from.query(
      `update trace set ledger_due = true, accounted_to = 0 from (
         select id from trace where user_id = $1 and usage_due and not ledger_due for no key update skip locked) as written
       where trace.user_id = $1 and trace.id = written.id`,
      [userId],
    );
  }
}
