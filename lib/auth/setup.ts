import "server-only";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "#lib/core/digest";
import { env } from "#lib/core/env";
import { type Db, prisma } from "#lib/db/client";

const setupKey = "setup_token_sha256";

export async function needsSetup(db: Db = prisma()): Promise<boolean> {
  return (await db.user.findFirst({ where: { deletedAt: null }, select: { id: true } })) === null;
}

/**
 * Without `SETUP_TOKEN` each call replaces the previous token; only its hash is stored.
 * @returns undefined once there is an account
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

export async function isSetupToken(token: string, db: Db = prisma()): Promise<boolean> {
  if (!(await needsSetup(db))) return false;
  const { SETUP_TOKEN } = env();
  const stored = await db.serverSetting.findUnique({ where: { key: setupKey }, select: { value: true } });
  const expected = SETUP_TOKEN ? sha256(SETUP_TOKEN) : stored && Buffer.from(stored.value, "hex");
  return expected !== null && timingSafeEqual(expected, sha256(token));
}

export async function closeSetup(db: Db): Promise<void> {
  await db.serverSetting.deleteMany({ where: { key: setupKey } });
}
