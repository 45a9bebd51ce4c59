import "server-only";
import { v7 as uuid } from "uuid";
import { type Db, prisma } from "#lib/db/client";
import type { AuditEvent as AuditEventRow } from "#lib/generated/prisma/client";
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

export type AuditEvent = Omit<AuditEventRow, "userId" | "action"> & { action: AuditAction };

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
 * Adds an event to a user's audit trail; call it in the transaction of what it records. The table refuses changes.
 *
 * @param subject what was acted on (a machine's name, a trace's id). Never another person's name or address: the trail
 *   outlives their account.
 */
export async function recordEvent(
  db: Db,
  userId: string,
  action: AuditAction,
  subject: string | null,
  from: Origin,
): Promise<void> {
  await recordEvents(db, userId, action, [subject], from);
}

/** Adds one event for each subject. */
export async function recordEvents(
  db: Db,
  userId: string,
  action: AuditAction,
  subjects: (string | null)[],
  { address, userAgent }: Origin,
): Promise<void> {
  if (subjects.length === 0) return;
  await db.auditEvent.createMany({
    data: subjects.map((subject) => ({ userId, id: uuid(), action, subject, address, userAgent })),
  });
}

/**
 * A user's audit trail, newest first.
 *
 * @param page.before the id after which to continue; `actions` narrows the trail to some.
 */
export async function listEvents(
  userId: string,
  page: { before?: string | undefined; limit: number; actions?: AuditAction[] },
): Promise<AuditEvent[]> {
  const events = await prisma().auditEvent.findMany({
    where: {
      userId,
      ...(page.before === undefined ? {} : { id: { lt: page.before } }),
      ...(page.actions ? { action: { in: page.actions } } : {}),
    },
    omit: { userId: true },
    orderBy: { id: "desc" },
    take: page.limit,
  });
  return events as AuditEvent[];
}
