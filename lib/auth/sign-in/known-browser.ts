import "server-only";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { requiredEnv } from "#lib/core/env";
import { prisma } from "#lib/db/client";

/** Enough for a browser that a household shares. */
const maxAccounts = 5;

/** A random id, then a proof for each account that signed in completely here, the last first. */
const form = /^([\w-]{22})((?:\.[\w-]{43})*)$/;

function read(cookie: string | null): { id: string; proofs: string[] } | undefined {
  const [, id, proofs = ""] = form.exec(cookie ?? "") ?? [];
  return id === undefined ? undefined : { id, proofs: proofs.split(".").slice(1, maxAccounts + 1) };
}

/** Includes the password's hash, so that a new password invalidates earlier proofs. */
const prove = (id: string, account: PasswordAccount) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET"))
    .update(`known browser:${id}:${account.userId}:${account.password}`)
    .digest();

type PasswordAccount = { userId: string; password: string };

async function findAccount(
  who: { userId: string } | { user: { email: string } },
): Promise<PasswordAccount | undefined> {
  // One query whether or not there is an account, so that timing reveals nothing.
  const found = await prisma().account.findFirst({
    where: { ...who, providerId: "credential" },
    select: { userId: true, password: true },
  });
  return found?.password ? { userId: found.userId, password: found.password } : undefined;
}

/**
 * @param cookie unverified
 * @returns undefined if this account did not sign in there with its present password
 */
export async function findKnownBrowser(cookie: string | null, email: string): Promise<string | undefined> {
  const browser = read(cookie);
  if (!browser || browser.proofs.length === 0) return undefined;
  const account = await findAccount({ user: { email } });
  if (!account) return undefined;
  const expected = prove(browser.id, account);
  const known = browser.proofs.some((proof) => timingSafeEqual(Buffer.from(proof, "base64url"), expected));
  return known ? browser.id : undefined;
}

/**
 * Nobody can lock out an account without a password by guessing.
 * @param cookie the browser's present one
 */
export async function extendKnownBrowser(cookie: string | null, userId: string): Promise<string | undefined> {
  const account = await findAccount({ userId });
  if (!account) return undefined;
  const { id, proofs } = read(cookie) ?? { id: randomBytes(16).toString("base64url"), proofs: [] };
  const proof = prove(id, account).toString("base64url");
  return [id, ...[proof, ...proofs.filter((one) => one !== proof)].slice(0, maxAccounts)].join(".");
}
