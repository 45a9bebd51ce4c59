import "server-only";
import { v7 as uuid } from "uuid";
import { currentRequestId } from "#lib/core/current-request";
import { log } from "#lib/core/log";
import { type Db, prisma } from "#lib/db/client";
import type { AuditEvent as AuditEventRow } from "#lib/generated/prisma/client";
import { clientAddress } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";

export type AuditOrigin = { address: string; userAgent: string | null };

export const auditActions = {
  account_created: "Account created",
  signed_in: "Signed in",
  password_accepted: "Password accepted, second factor required",
  provider_accepted: "Sign-in provider accepted, second factor required",
  sign_in_failed: "Sign-in failed",
  signed_out: "Signed out",
  session_revoked: "Browser signed out",
  other_sessions_revoked: "All other browsers signed out",
  reauthentication_failed: "Wrong password or code for a change of the account",
  name_changed: "Name changed",
  password_changed: "Password changed",
  password_reset: "Password reset by the operator",
  two_factor_enabled: "Two-factor authentication turned on",
  two_factor_disabled: "Two-factor authentication turned off",
  recovery_codes_created: "New recovery codes created",
  browser_trusted: "Browser trusted to skip the second factor",
  provider_linked: "Sign-in provider connected",
  provider_unlinked: "Sign-in provider disconnected",
  became_owner: "Became the owner of this server",
  login_approved: "Device login approved",
  login_denied: "Device login denied",
  token_created: "Token created",
  token_revoked: "Token revoked",
  agent_allowed: "Agent allowed to read sessions",
  agent_ended: "Agent disconnected",
  invited: "Invitation created",
  invitation_revoked: "Invitation revoked",
  invitation_used: "Invitation used",
  trace_deleted: "Session deleted",
  traces_deleted: "Sessions deleted",
  share_created: "Share link created",
  share_revoked: "Share link revoked",
  trace_exported: "Session exported",
  traces_exported: "Sessions exported",
  upload_downloaded: "Upload downloaded",
  secret_masked: "Secret masked in stored sessions",
  secret_kept: "Secret dismissed",
  original_key_set: "Key of exact copies set",
  original_key_replaced: "Key of exact copies replaced",
  originals_exported: "Exact copies exported",
  original_deleted: "Exact copy deleted",
  masking_set: "Masking of secrets turned on or off",
} as const;

export type AuditAction = keyof typeof auditActions;

export type AuditEvent = Omit<AuditEventRow, "userId" | "action"> & { action: AuditAction };

export const operator: AuditOrigin = { address: "the server itself", userAgent: null };

export function readOrigin(requestHeaders: Headers): AuditOrigin {
  return { address: clientAddress(requestHeaders), userAgent: requestHeaders.get("user-agent")?.slice(0, 256) ?? null };
}

export async function currentOrigin(): Promise<AuditOrigin> {
  // The worker and the launcher load this file, and plain Node can't resolve this path.
  const { headers } = await import("next/headers");
  return readOrigin(await headers());
}

/**
 * Call it in the transaction of what it records.
 * @param subject a machine's name or a trace's id; never a person's, since the trail outlives their account
 */
export async function recordEvent(
  db: Db,
  userId: string,
  action: AuditAction,
  subject: string | null,
  from: AuditOrigin,
): Promise<void> {
  await recordEvents(db, userId, action, [subject], from);
}

/** Keeps a read-only token from filling the trail. */
const recordedExports = { points: 60, seconds: 60 };

/** A HEAD takes no data, so it is not recorded. */
export async function recordExport(
  request: Request,
  userId: string,
  action: "trace_exported" | "traces_exported" | "upload_downloaded" | "originals_exported",
  subject: string,
): Promise<void> {
  if (request.method === "HEAD" || (await overLimit("recorded-export", userId, recordedExports))) return;
  await recordEvent(prisma(), userId, action, subject, readOrigin(request.headers));
}

export async function recordFailedProof(userId: string, from: AuditOrigin): Promise<void> {
  await recordEvent(prisma(), userId, "reauthentication_failed", null, from);
}

/** Refusals that are not visible in the answer and belong to no user's trail. */
type AuditRefusal = "unknown_account" | "too_many_attempts" | "foreign_origin" | "not_the_owner";

/**
 * The log goes to other systems, so it contains no names, email addresses or subjects.
 * @param about a user's id, and the limit that was reached
 */
export function logSecurity(
  event: AuditAction | AuditRefusal,
  { address }: Pick<AuditOrigin, "address">,
  about: { userId?: string | undefined; limit?: string } = {},
): void {
  const isRefusal = !(event in auditActions);
  log[isRefusal ? "warn" : "info"]({ event, ...about, address, requestId: currentRequestId() }, "security event");
}

export async function recordEvents(
  db: Db,
  userId: string,
  action: AuditAction,
  subjects: (string | null)[],
  { address, userAgent }: AuditOrigin,
): Promise<void> {
  if (subjects.length === 0) return;
  // The operator's commands print what they do.
  if (address !== operator.address) logSecurity(action, { address }, { userId });
  await db.auditEvent.createMany({
    data: subjects.map((subject) => ({ userId, id: uuid(), action, subject, address, userAgent })),
  });
}

/** @param page.before an event's id */
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
