import "server-only";
import { v7 as uuid } from "uuid";
import { pool, type Queryable } from "#lib/db/client";
import { clientAddress } from "#lib/http/address";

/** Where something was asked from: the address behind trusted proxies only, and what the client calls itself. */
export type Origin = { address: string; userAgent: string | null };

/** Everything that the trail knows, with what a person reads of it. */
export const auditActions = {
  account_created: "Account made",
  signed_in: "Signed in",
  password_accepted: "Password accepted, second factor asked for",
  sign_in_failed: "Sign-in refused",
  session_revoked: "Session ended",
  name_changed: "Name changed",
  password_changed: "Password changed",
  password_reset: "Password reset by the operator",
  two_factor_enabled: "Second factor switched on",
  two_factor_disabled: "Second factor switched off",
  login_approved: "Device login approved",
  login_denied: "Device login denied",
  token_created: "Token made",
  token_revoked: "Token revoked",
  invited: "Invitation made",
  invitation_revoked: "Invitation revoked",
  invitation_used: "Invitation used",
  trace_deleted: "Conversation deleted",
  traces_deleted: "Conversations deleted",
  share_created: "Share link made",
  share_revoked: "Share link revoked",
} as const;

export type AuditAction = keyof typeof auditActions;

export type AuditEvent = Origin & { id: string; action: AuditAction; subject: string | null; createdAt: Date };

/** The origin of what is done by a command on the server itself. */
export const operator: Origin = { address: "the server itself", userAgent: null };

/** The origin of a request. */
export function originOf(requestHeaders: Headers): Origin {
  return { address: clientAddress(requestHeaders), userAgent: requestHeaders.get("user-agent")?.slice(0, 256) ?? null };
}

/** The origin of the page or server action that runs right now. */
export async function currentOrigin(): Promise<Origin> {
  // Only here: the worker and the launcher load this file too, and Node itself cannot resolve this path.
  const { headers } = await import("next/headers");
  return originOf(await headers());
}

/**
 * Adds to a user's trail; call it in the transaction of what it tells. The table refuses changes.
 *
 * @param subject what it was done to (a machine's name, a conversation's id). Never another person's name or address: the
 *   trail outlives their account.
 */
export async function recordEvent(
  tx: Queryable,
  userId: string,
  action: AuditAction,
  subject: string | null,
  { address, userAgent }: Origin,
): Promise<void> {
  await tx.query(
    `insert into audit_event (user_id, id, action, subject, address, user_agent)
     select id, $2, $3, $4, $5, $6 from "user" where id = $1`,
    [userId, uuid(), action, subject, address, userAgent],
  );
}

/**
 * A user's trail, newest first.
 *
 * @param page.before the id behind which to go on; `actions` narrows the trail to some.
 */
export async function listEvents(
  userId: string,
  page: { before?: string | undefined; limit: number; actions?: AuditAction[] },
): Promise<AuditEvent[]> {
  const { rows } = await pool().query<AuditEvent>(
    `select id, action, subject, address, user_agent as "userAgent", created_at as "createdAt" from audit_event
     where user_id = $1 and ($2::uuid is null or id < $2) and ($3::text[] is null or action = any($3))
     order by id desc limit $4`,
    [userId, page.before ?? null, page.actions ?? null, page.limit],
  );
  return rows;
}
