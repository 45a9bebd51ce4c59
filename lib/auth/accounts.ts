import "server-only";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { z } from "zod";
import { auth } from "#lib/auth/auth";
import type { accountForm, sessionResponse } from "#lib/auth/schema";
import type { Caller } from "#lib/auth/session";
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
export async function createOwner(token: string, account: NewAccount): Promise<void> {
  const password = await hashPassword(account.password);
  await transaction(async (tx) => {
    await tx.query(`lock table "user" in share row exclusive mode`);
    const { rowCount } = await tx.query(`select 1 from "user" limit 1`);
    if (rowCount !== 0 || !(await matches(tx, token)))
      throw new SpoorError("access_denied", "This set-up link is no longer valid.");
    await insertAccount(tx, account, password, "owner");
    await tx.query("delete from server_setting where key = $1", [setupKey]);
  });
}

/**
 * Makes a member's account on a server whose operator set `SIGN_UP=open`.
 *
 * @throws SpoorError `access_denied` elsewhere; `invalid_request` where the address has an account.
 */
export async function signUp(account: NewAccount): Promise<void> {
  if (env().SIGN_UP !== "open" || (await needsSetup())) {
    throw new SpoorError("access_denied", "This server does not take sign-ups.");
  }
  const password = await hashPassword(account.password);
  await transaction((tx) => insertAccount(tx, account, password, "member"));
}

/** Gives an account a new password and ends its sessions. @returns false where no account has the address */
export async function resetPassword(email: string, password: string): Promise<boolean> {
  const hash = await hashPassword(password);
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `update account set password = $2, updated_at = now() from "user"
       where "user".id = account.user_id and "user".email = $1 and provider_id = 'credential' returning "user".id`,
      [email.toLowerCase(), hash],
    );
    const [user] = rows;
    if (!user) return false;
    await tx.query("delete from session where user_id = $1", [user.id]);
    return true;
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
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into "user" (name, email, role) values ($1, $2, $3) on conflict (email) do nothing returning id`,
    [name, email.toLowerCase(), role],
  );
  const [user] = rows;
  if (!user) {
    const errors = [{ path: "email", message: "This address already has an account." }];
    throw new SpoorError("invalid_request", "This address already has an account.", { errors });
  }
  await tx.query(
    "insert into account (user_id, account_id, provider_id, password) values ($1::uuid, $1::text, 'credential', $2)",
    [user.id, password],
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
