import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { packQuiet } from "#lib/packs/pack";
import { indexAll } from "./searching.ts";

/** Lets all sessions be as if nothing had changed them for a week. */
export const beQuiet = () =>
  pool().query("update trace set stored_at = now() - interval '8 days' where deleted_at is null");

/** Does what a worker does until all traces are packed. @returns how many were */
export async function pack(): Promise<number> {
  await accountTraces(100);
  await indexAll();
  await beQuiet();
  return packQuiet(100);
}

export async function count(table: "message" | "message_pack"): Promise<number> {
  const { rows } = await pool().query(`select count(*)::int as count from ${table}`);
  return rows[0].count;
}

export const idOf = async (sourceId: string) => {
  const { rows } = await pool().query("select id from trace where source_id = $1", [sourceId]);
  return (rows[0]?.id as string) ?? expect.fail(`there is no ${sourceId}`);
};
