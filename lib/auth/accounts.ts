import "server-only";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { z } from "zod";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { takeInvitation } from "#lib/auth/invitations";
import type { accountForm, sessionResponse } from "#lib/auth/schema";
import type { Caller } from "#lib/auth/session";
import { shutOutMachines } from "#lib/auth/tokens";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";

type NewAccount = z.output<typeof accountForm>;

const setupKey = "setup_token_sha256";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Whether the server still has no account, so that its set-up link is open. */
export async function needsSetup(): Promise<boolean> {
  const { rowCount } = await pool().query(`select 1 from "user" limit 1`);
  return rowCount === 0;
}

/**
 * The link that makes the first account, or undefined where there is one already. Without `SETUP_TOKEN` every call makes
 * a new token and forgets the one before; only its hash is stored.
 */
export async function openSetup(): Promise<string | undefined> {
  if (!(await needsSetup())) return undefined;
  const { BASE_URL, SETUP_TOKEN } = env();
  const token = SETUP_TOKEN ?? randomBytes(24).toString("base64url");
  await pool().query(
    `insert into server_setting (key, value) values ($1, $2)
     on conflict (key) do update set value = excluded.value, updated_at = now()`,
    [setupKey, sha256(token)],
  );
  return `${BASE_URL}/setup?token=${encodeURIComponent(token)}`;
}

/** Whether a set-up token is the one of this server, and the server still waits for its first account. */
export async function isSetupToken(token: string): Promise<boolean> {
  return (await needsSetup()) && matches(pool(), token);
}

async function matches(runner: Queryable, token: string): Promise<boolean> {
  const { SETUP_TOKEN } = env();
  const { rows } = await runner.query<{ value: string }>("select value from server_setting where key = $1", [setupKey]);
  const expected = SETUP_TOKEN ? sha256(SETUP_TOKEN) : rows[0]?.value;
  return expected !== undefined && timingSafeEqual(Buffer.from(expected), Buffer.from(sha256(token)));
}

/**
 * Makes the first account, the owner's. Of any number of calls at once one succeeds.
 *
 * @throws SpoorError `access_denied` where the token is wrong or the server has an account already.
 */
export async function createOwner(token: string, account: NewAccount, from: Origin): Promise<void> {
  const password = await hashPassword(account.password);
  await transaction(async (tx) => {
    await tx.query(`lock table "user" in share row exclusive mode`);
    const { rowCount } = await tx.query(`select 1 from "user" limit 1`);
    if (rowCount !== 0 || !(await matches(tx, token))) {
      throw new SpoorError("access_denied", "This set-up link is no longer valid.");
    }
    await insertAccount(tx, account, password, "owner", from);
    await tx.query("delete from server_setting where key = $1", [setupKey]);
  });
}

/**
 * Makes a member's account: with an invitation, or where the operator set `SIGN_UP=open`.
 *
 * @throws SpoorError `access_denied` without either; `invalid_request` where the address has an account, and then the
 *   invitation stays open.
 */
export async function signUp(account: NewAccount, invitation: string | undefined, from: Origin): Promise<void> {
  const open = env().SIGN_UP === "open" && !(await needsSetup());
  if (!open && invitation === undefined) throw new SpoorError("access_denied", "This server does not take sign-ups.");
  const password = await hashPassword(account.password);
  await transaction(async (tx) => {
    const inviter = invitation === undefined ? undefined : await takeInvitation(tx, invitation);
    if (!open && !inviter) throw new SpoorError("access_denied", "This invitation is no longer valid.");
    await insertAccount(tx, account, password, "member", from);
    if (inviter) await recordEvent(tx, inviter, "invitation_used", null, from);
  });
}

/**
 * Gives an account a new password, as only the operator can. Whoever had the old one is out: sessions, tokens, device logins
 * that were approved and not yet fetched, and the second factor end with it.
 *
 * @param options.keepTokens for a password that was forgotten, not known to somebody: the machines stay logged in.
 * @returns false where no account has the address.
 */
export async function resetPassword(
  email: string,
  password: string,
  from: Origin,
  { keepTokens = false } = {},
): Promise<boolean> {
  const hash = await hashPassword(password);
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `update "user" set two_factor_enabled = false, updated_at = now() where email = $1 returning id`,
      [email.toLowerCase()],
    );
    const [user] = rows;
    if (!user) return false;
    const { rowCount } = await tx.query(
      "update account set password = $2, updated_at = now() where user_id = $1 and provider_id = 'credential'",
      [user.id, hash],
    );
    if (rowCount === 0) await insertPassword(tx, user.id, hash);
    await tx.query("delete from session where user_id = $1", [user.id]);
    await tx.query("delete from two_factor where user_id = $1", [user.id]);
    await shutOutMachines(tx, user.id, { keepTokens }, from);
    await recordEvent(tx, user.id, "password_reset", null, from);
    return true;
  });
}

/** Whether a password is a user's own; false as well where the user signs in without one. */
export async function isPassword(userId: string, password: string): Promise<boolean> {
  const { rows } = await pool().query<{ hash: string }>(
    "select password as hash from account where user_id = $1 and provider_id = 'credential'",
    [userId],
  );
  const [account] = rows;
  return account !== undefined && (await auth().$context).password.verify({ hash: account.hash, password });
}

/** Every account of the server, oldest first. */
export async function listAccounts(): Promise<{ name: string; email: string; role: string; createdAt: Date }[]> {
  const { rows } = await pool().query(
    `select name, email, role, created_at as "createdAt" from "user" order by created_at, id`,
  );
  return rows;
}

/** The owner's id, or undefined while the server has no account. */
export async function findOwner(): Promise<string | undefined> {
  const { rows } = await pool().query<{ id: string }>(`select id from "user" where role = 'owner'`);
  return rows[0]?.id;
}

/**
 * Removes a user and everything of theirs, at once and for good: conversations, uploads, jobs, tokens, logins, sessions,
 * telemetry, invitations, the audit trail. Where the owner leaves, the oldest other account becomes the owner.
 */
export async function deleteAccount(userId: string): Promise<void> {
  await transaction(async (tx) => {
    // A job that runs holds its own row and then wants its user's: taken in the same order, neither waits for the other.
    await tx.query("select 1 from ingest_job where user_id = $1 order by id for update", [userId]);
    const { rows } = await tx.query<{ email: string; role: string }>(
      `delete from "user" where id = $1 returning email, role`,
      [userId],
    );
    const [user] = rows;
    if (!user) return;
    // What holds a user's id or address without a foreign key: queue entries, rate counters, better-auth's own values.
    await tx.query("delete from pgboss.job where data->>'userId' = $1", [userId]);
    // An address may be the end of another's: a counter's key has it whole, behind its name.
    await tx.query("delete from rate_limit where strpos(key, $1) > 0 or right(key, length($2) + 1) = ':' || $2", [
      userId,
      user.email,
    ]);
    await tx.query(
      `delete from verification where strpos(identifier || ' ' || value, $1) > 0 or strpos(identifier || ' ' || value, $2) > 0`,
      [userId, user.email],
    );
    await tx.query("update invitation set email = null where email = $1", [user.email]);
    if (user.role !== "owner") return;
    await tx.query(
      `update "user" set role = 'owner' where id = (select id from "user" order by created_at, id limit 1)`,
    );
  });
}

async function hashPassword(password: string): Promise<string> {
  return (await auth().$context).password.hash(password);
}

async function insertAccount(
  tx: Queryable,
  { name, email }: NewAccount,
  password: string,
  role: string,
  from: Origin,
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into "user" (name, email, role) values ($1, $2, $3) on conflict (email) do nothing returning id`,
    [name, email.toLowerCase(), role],
  );
  const [user] = rows;
  if (!user) {
    const message = "This address already has an account.";
    throw new SpoorError("invalid_request", message, { errors: [{ path: "email", message }] });
  }
  await insertPassword(tx, user.id, password);
  await recordEvent(tx, user.id, "account_created", null, from);
}

async function insertPassword(tx: Queryable, userId: string, password: string): Promise<void> {
  await tx.query(
    "insert into account (user_id, account_id, provider_id, password) values ($1::uuid, $1::text, 'credential', $2)",
    [userId, password],
  );
}

/** What `GET /api/cli/session` tells of a token and its user. */
export async function describeSession({
  userId,
  token,
}: Caller & { via: "bearer" }): Promise<z.input<typeof sessionResponse>> {
  const { rows } = await pool().query<{ name: string; email: string }>(`select name, email from "user" where id = $1`, [
    userId,
  ]);
  const [user] = rows;
  if (!user) throw new SpoorError("invalid_token", "The token is not valid. Log in again.");
  return {
    ok: true,
    userId,
    user,
    machine: token.machine,
    tokenId: token.id,
    createdAt: token.createdAt.toISOString(),
    expiresAt: token.expiresAt.toISOString(),
  };
}
