import "server-only";
import { createHash, randomBytes } from "node:crypto";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { env } from "#lib/env";

const validDays = 7;
const hashOf = (token: string) => createHash("sha256").update(token).digest();

export type Invitation = {
  id: string;
  email: string | null;
  createdAt: Date;
  expiresAt: Date;
  state: "open" | "used" | "revoked" | "expired";
};

const state = `case when used_at is not null then 'used' when revoked_at is not null then 'revoked'
  when expires_at <= now() then 'expired' else 'open' end`;

/**
 * Makes an invitation: a link that makes one account within 7 days. It is shown once; the table keeps its hash.
 *
 * @param email whom it is meant for, for the list of the one who invites; it binds nobody.
 */
export async function invite(userId: string, email: string | null, from: Origin): Promise<string> {
  const token = randomBytes(24).toString("base64url");
  await transaction(async (tx) => {
    await tx.query(
      "insert into invitation (user_id, hash, email, expires_at) values ($1, $2, $3, now() + make_interval(days => $4))",
      [userId, hashOf(token), email, validDays],
    );
    await recordEvent(tx, userId, "invited", null, from);
  });
  return `${env().BASE_URL}/sign-up?invitation=${token}`;
}

/** A user's invitations, newest first. */
export async function listInvitations(userId: string): Promise<Invitation[]> {
  const { rows } = await pool().query<Invitation>(
    `select id, email, created_at as "createdAt", expires_at as "expiresAt", ${state} as state
     from invitation where user_id = $1 order by created_at desc, id limit 100`,
    [userId],
  );
  return rows;
}

/** Takes back an open invitation. @returns whether it was still open */
export async function revokeInvitation(userId: string, id: string, from: Origin): Promise<boolean> {
  return transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update invitation set revoked_at = now() where user_id = $1 and id = $2 and ${state} = 'open'`,
      [userId, id],
    );
    if (rowCount === 1) await recordEvent(tx, userId, "invitation_revoked", null, from);
    return rowCount === 1;
  });
}

/** What a sign-up page may know of an invitation: whom it is meant for; undefined where it is not open. */
export async function findInvitation(token: string): Promise<{ email: string | null } | undefined> {
  const { rows } = await pool().query<{ email: string | null }>(
    `select email from invitation where hash = $1 and ${state} = 'open'`,
    [hashOf(token)],
  );
  return rows[0];
}

/**
 * Uses an invitation up inside the transaction that makes the account: of any number at once, one gets it.
 *
 * @returns the id of the user who invited, or undefined where it is not open.
 */
export async function takeInvitation(tx: Queryable, token: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ userId: string }>(
    `update invitation set used_at = now() where hash = $1 and ${state} = 'open' returning user_id as "userId"`,
    [hashOf(token)],
  );
  return rows[0]?.userId;
}
