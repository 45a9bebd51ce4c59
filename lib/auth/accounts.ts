import "server-only";
import type { z } from "zod";
import { type AuditOrigin, logSecurity, recordEvent } from "#lib/auth/audit";
import type { Caller } from "#lib/auth/guards";
import { findInvitation, takeInvitation } from "#lib/auth/invitations";
import { hashPassword, verifyPassword } from "#lib/auth/passwords/hashing";
import { requireStrong } from "#lib/auth/passwords/passwords";
import type { accountForm, sessionResponse } from "#lib/auth/schema";
import { closeSetup, isSetupToken, needsSetup } from "#lib/auth/setup";
import { endTrust } from "#lib/auth/sign-in/second-factor";
import { lockUsers } from "#lib/auth/sql";
import { revokeMachines } from "#lib/auth/tokens";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { type Db, prisma } from "#lib/db/client";
import type { User } from "#lib/generated/prisma/client";
import { getNetwork } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";

type NewAccount = z.output<typeof accountForm>;

export const credential = "credential";

/**
 * Creates the owner's account; of several calls at once one succeeds.
 * @throws SpoorError `access_denied` for a wrong token, or once the server has an account
 */
export async function createOwner(token: string, account: NewAccount, from: AuditOrigin): Promise<void> {
  const refused = () => new SpoorError("access_denied", "This set-up link is no longer valid.");
  // Checked before the costly hash, and again in the transaction.
  if (!(await isSetupToken(token))) throw refused();
  const password = await hashNewPassword(account.password, account);
  await prisma().$transaction(async (tx) => {
    await lockUsers(tx);
    if (!(await isSetupToken(token, tx))) throw refused();
    await createAccount(tx, account, password, "owner", from);
    await closeSetup(tx);
  });
}

/**
 * Creates a member's account, by invitation or where `SIGN_UP=open`.
 * @throws SpoorError `access_denied` without either; `invalid_request` for a weak password or a known address, which leaves
 * the invitation open; `rate_limited`, `overloaded`
 */
export async function signUp(account: NewAccount, invitation: string | undefined, from: AuditOrigin): Promise<void> {
  const open = env().SIGN_UP === "open" && !(await needsSetup());
  if (!open && invitation === undefined) throw new SpoorError("access_denied", "Sign-up is closed on this server.");
  const refused = () => new SpoorError("access_denied", "This invitation is no longer valid.");
  if (!open && !(await findInvitation(invitation ?? ""))) throw refused();
  await limitSignUps(from);
  const password = await hashNewPassword(account.password, account);
  await prisma().$transaction(async (tx) => {
    const inviter = invitation === undefined ? undefined : await takeInvitation(tx, invitation);
    if (!open && !inviter) throw refused();
    await createAccount(tx, account, password, "member", from);
    if (inviter) await recordEvent(tx, inviter, "invitation_used", null, from);
  });
}

/**
 * Revokes sign-ins, approved device logins, the second factor and, unless `keepTokens`, tokens.
 * @returns false if no account has the address
 */
export async function resetPassword(
  email: string,
  password: string,
  from: AuditOrigin,
  { keepTokens = false } = {},
): Promise<boolean> {
  const hash = await hashNewPassword(password, { email });
  return prisma().$transaction(async (tx) => {
    const [user] = await tx.user.updateManyAndReturn({
      where: { email: email.toLowerCase() },
      data: { twoFactorEnabled: false },
      select: { id: true },
    });
    if (!user) return false;
    const mine = { userId: user.id };
    const { count } = await tx.account.updateMany({
      where: { ...mine, providerId: credential },
      data: { password: hash },
    });
    if (count === 0) await createPassword(tx, user.id, hash);
    await tx.session.deleteMany({ where: mine });
    await tx.twoFactor.deleteMany({ where: mine });
    await endTrust(tx, user.id);
    await revokeMachines(tx, user.id, { keepTokens }, from);
    await recordEvent(tx, user.id, "password_reset", null, from);
    return true;
  });
}

export async function isPassword(userId: string, password: string): Promise<boolean> {
  const account = await prisma().account.findFirst({
    where: { userId, providerId: credential },
    select: { password: true },
  });
  if (!account?.password) return false;
  return verifyPassword({ hash: account.password, password });
}

export async function listAccounts(): Promise<Pick<User, "name" | "email" | "role" | "createdAt">[]> {
  return prisma().user.findMany({
    where: { deletedAt: null },
    select: { name: true, email: true, role: true, createdAt: true },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
}

export async function findOwner(): Promise<string | undefined> {
  return (await prisma().user.findFirst({ where: { role: "owner" }, select: { id: true } }))?.id;
}

async function hashNewPassword(password: string, about: { name?: string; email: string }): Promise<string> {
  await requireStrong(password, about);
  return hashPassword(password);
}

/** Each attempt reveals whether an address has an account, and costs a hash. */
async function limitSignUps({ address }: AuditOrigin): Promise<void> {
  if (env().AUTH_RATE_LIMIT !== "on") return;
  const window = { points: limits.signIn.signUpsPerHourPerNetwork, seconds: 3600 };
  const retryAfterSeconds = await overLimit("sign-up", getNetwork(address), window);
  if (retryAfterSeconds === undefined) return;
  logSecurity("too_many_attempts", { address }, { limit: "sign-up" });
  const detail = "Too many sign-ups from this network. Try again in an hour.";
  throw new SpoorError("rate_limited", detail, { retryAfterSeconds });
}

async function createAccount(
  tx: Db,
  { name, email }: NewAccount,
  password: string,
  role: string,
  from: AuditOrigin,
): Promise<void> {
  const [user] = await tx.user.createManyAndReturn({
    data: [{ name, email: email.toLowerCase(), role }],
    skipDuplicates: true,
    select: { id: true },
  });
  if (!user) {
    const message = "This address already has an account. If it is yours, sign in.";
    throw new SpoorError("invalid_request", message, { errors: [{ path: "email", message }] });
  }
  await createPassword(tx, user.id, password);
  await recordEvent(tx, user.id, "account_created", null, from);
}

async function createPassword(tx: Db, userId: string, password: string): Promise<void> {
  await tx.account.createMany({ data: [{ userId, accountId: userId, providerId: credential, password }] });
}

export async function describeToken({
  userId,
  token,
}: Caller & { via: "bearer" }): Promise<z.input<typeof sessionResponse>> {
  const user = await prisma().user.findUnique({ where: { id: userId }, select: { name: true, email: true } });
  if (!user) throw new SpoorError("invalid_token");
  return {
    ok: true,
    userId,
    user,
    machine: token.machine,
    tokenId: token.id,
    scopes: token.scopes,
    createdAt: token.createdAt.toISOString(),
    expiresAt: token.expiresAt.toISOString(),
  };
}
