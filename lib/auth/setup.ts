import "server-only";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Db, prisma } from "#lib/db/client";
import { sha256 } from "#lib/digest";
import { env } from "#lib/env";

const setupKey = "setup_token_sha256";

/** Whether the server still has no account, so that its set-up link is open. */
export async function needsSetup(db: Db = prisma()): Promise<boolean> {
  return (await db.user.findFirst({ where: { deletedAt: null }, select: { id: true } })) === null;
}

/**
 * The link that creates the first account, or undefined where there is one already. Without `SETUP_TOKEN` every call
 * makes a new token and replaces the one before; only its hash is stored.
 */
export async function openSetup(): Promise<string | undefined> {
  if (!(await needsSetup())) return undefined;
  const { BASE_URL, SETUP_TOKEN } = env();
  const token = SETUP_TOKEN ?? randomBytes(24).toString("base64url");
  const value = sha256(token).toString("hex");
  await prisma().serverSetting.upsert({
    where: { key: setupKey },
    create: { key: setupKey, value },
    update: { value },
  });
  return `${BASE_URL}/setup?token=${encodeURIComponent(token)}`;
}

/** Whether a set-up token is this server's, and the server still has no account. */
export async function isSetupToken(token: string, db: Db = prisma()): Promise<boolean> {
  if (!(await needsSetup(db))) return false;
  const { SETUP_TOKEN } = env();
  const stored = await db.serverSetting.findUnique({ where: { key: setupKey }, select: { value: true } });
  const expected = SETUP_TOKEN ? sha256(SETUP_TOKEN) : stored && Buffer.from(stored.value, "hex");
  return expected !== null && timingSafeEqual(expected, sha256(token));
}

/** Forgets the set-up token, in the transaction that creates the first account. */
export async function closeSetup(db: Db): Promise<void> {
  await db.serverSetting.deleteMany({ where: { key: setupKey } });
}
