import pg from "pg";
import { onTestFinished } from "vitest";
import { pool } from "#lib/db/client";
import { isDistributed } from "./nodes.ts";

type Runner = (this: unknown, ...words: unknown[]) => unknown;

/**
 * Runs `act` in the transaction of the next statement that contains a text, before its caller continues; if `act`
 * throws, the statement fails. A trigger can't do this on the nodes of a distributed database, where it may not read
 * other rows.
 */
export function afterNext(text: string, act: (tx: pg.Client) => Promise<unknown>): void {
  const ask = pg.Client.prototype.query as Runner;
  const restore = () => {
    pg.Client.prototype.query = ask as typeof pg.Client.prototype.query;
  };
  pg.Client.prototype.query = function (this: pg.Client, ...words: unknown[]) {
    const [asked] = words as [string | { text?: string } | undefined];
    if (!(typeof asked === "string" ? asked : asked?.text)?.includes(text)) return ask.apply(this, words);
    restore();
    return (ask.apply(this, words) as Promise<unknown>).then((answer) => act(this).then(() => answer));
  } as typeof pg.Client.prototype.query;
  onTestFinished(restore);
}

/** The coordinator does not show waits on its nodes. */
const lockWaits = isDistributed
  ? "citus_lock_waits"
  : "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Counts connections that wait for another connection's lock. */
export async function waitingForLocks(): Promise<number> {
  const { rows } = await pool().query(`select count(*)::int as count from ${lockWaits}`);
  return rows[0].count;
}
