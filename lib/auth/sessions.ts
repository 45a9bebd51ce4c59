import "server-only";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";

/** A browser that is signed in. */
export type BrowserSession = {
  id: string;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
  address: string | null;
  userAgent: string | null;
};

/** A user's browser sessions, the last one used first. */
export async function listSessions(userId: string): Promise<BrowserSession[]> {
  const { rows } = await pool().query<BrowserSession>(
    `select id, created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt",
            nullif(ip_address, '') as address, nullif(user_agent, '') as "userAgent"
     from session where user_id = $1 and expires_at > now() order by updated_at desc, id`,
    [userId],
  );
  return rows;
}

/**
 * Ends one of a user's sessions, or all but the one that asks.
 *
 * @param which the session's id, or `{ except }` with the id that is to stay.
 * @returns how many ended.
 */
export async function revokeSessions(
  userId: string,
  which: string | { except: string },
  from: Origin,
): Promise<number> {
  return transaction(async (tx) => {
    const [condition, id] = typeof which === "string" ? ["id = $2", which] : ["id <> $2", which.except];
    const { rowCount } = await tx.query(`delete from session where user_id = $1 and ${condition}`, [userId, id]);
    if (rowCount) await recordEvent(tx, userId, "session_revoked", rowCount > 1 ? `${rowCount} sessions` : null, from);
    return rowCount ?? 0;
  });
}
