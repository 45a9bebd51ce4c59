import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { makeSecretOnce } from "#lib/auth/sent-forms";
import { sha256 } from "#lib/core/digest";
import { env } from "#lib/core/env";
import { type Db, prisma } from "#lib/db/client";
import type { Invitation as InvitationRow } from "#lib/generated/prisma/client";

const validDays = 7;
const dayMs = 86_400_000;

export type Invitation = Pick<InvitationRow, "id" | "email" | "createdAt" | "expiresAt"> & {
  state: "open" | "used" | "revoked" | "expired";
};

const isOpen = () => ({ usedAt: null, revokedAt: null, expiresAt: { gt: new Date() } });

function getInvitationState({
  usedAt,
  revokedAt,
  expiresAt,
}: Pick<InvitationRow, "usedAt" | "revokedAt" | "expiresAt">) {
  if (usedAt) return "used";
  if (revokedAt) return "revoked";
  return expiresAt <= new Date() ? "expired" : "open";
}

/**
 * Creates one link for each form, valid for 7 days and for one account; only its hash is stored.
 * @param email a note for the inviter; anybody with the link can use it
 */
export async function invite(
  userId: string,
  email: string | null,
  from: AuditOrigin,
  formId?: string,
): Promise<string> {
  const form = formId === undefined ? undefined : { id: formId, fields: ["invitation", email] };
  const toText = (bytes: Buffer) => bytes.subarray(0, 24).toString("base64url");
  const expiresAt = new Date(Date.now() + validDays * dayMs);
  const token = await prisma().$transaction(async (tx) => {
    const { text, isNew } = await makeSecretOnce(tx, userId, form, toText, async (hash) => {
      const made = await tx.invitation.findUnique({ where: { hash } });
      return made ? getInvitationState(made) === "open" : undefined;
    });
    if (isNew) {
      await tx.invitation.createMany({ data: [{ userId, hash: sha256(text), email, expiresAt }] });
      await recordEvent(tx, userId, "invited", null, from);
    }
    return text;
  });
  return `${env().BASE_URL}/sign-up?invitation=${token}`;
}

export async function listInvitations(userId: string): Promise<Invitation[]> {
  const rows = await prisma().invitation.findMany({
    where: { userId },
    select: { id: true, email: true, createdAt: true, expiresAt: true, usedAt: true, revokedAt: true },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
    take: 100,
  });
  return rows.map(({ usedAt, revokedAt, ...row }) => ({
    ...row,
    state: getInvitationState({ ...row, usedAt, revokedAt }),
  }));
}

export async function revokeInvitation(userId: string, id: string, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    const { count } = await tx.invitation.updateMany({
      where: { userId, id, ...isOpen() },
      data: { revokedAt: new Date() },
    });
    if (count === 1) await recordEvent(tx, userId, "invitation_revoked", null, from);
    return count === 1;
  });
}

export async function findInvitation(token: string): Promise<{ email: string | null } | undefined> {
  const where = { hash: sha256(token), ...isOpen() };
  return (await prisma().invitation.findUnique({ where, select: { email: true } })) ?? undefined;
}

/**
 * Call it in the transaction that creates the account.
 * @returns the inviter's id, or undefined if it is not open
 */
export async function takeInvitation(tx: Db, token: string): Promise<string | undefined> {
  const [taken] = await tx.invitation.updateManyAndReturn({
    where: { hash: sha256(token), ...isOpen() },
    data: { usedAt: new Date() },
    select: { userId: true },
  });
  return taken?.userId;
}
