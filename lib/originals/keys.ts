import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { sha256 } from "#lib/core/digest";
import { SpoorError } from "#lib/core/errors";
import { prisma } from "#lib/db/client";

/** Eight hexadecimal digits that people compare. */
export const getFingerprint = (recipient: string): string =>
  sha256(recipient).toString("hex").slice(0, 8).toUpperCase();

export type OwnKey = { recipient: string; fingerprint: string; createdAt: Date };

export async function findKey(userId: string): Promise<OwnKey | undefined> {
  const key = await prisma().originalKey.findUnique({
    where: { userId },
    select: { recipient: true, createdAt: true },
  });
  return key ? { ...key, fingerprint: getFingerprint(key.recipient) } : undefined;
}

/** @param seen fingerprint of the key to replace; undefined for none */
export async function setKey(
  userId: string,
  recipient: string,
  seen: string | undefined,
  from: AuditOrigin,
): Promise<OwnKey> {
  const createdAt = new Date();
  const former = await findKey(userId);
  if (former?.fingerprint !== seen) throw new SpoorError("precondition_failed");
  await prisma().$transaction(async (tx) => {
    const { count } = former
      ? await tx.originalKey.updateMany({
          where: { userId, recipient: former.recipient },
          data: { recipient, createdAt },
        })
      : await tx.originalKey.createMany({ data: [{ userId, recipient, createdAt }], skipDuplicates: true });
    if (count === 0) throw new SpoorError("precondition_failed");
    const fingerprint = getFingerprint(recipient);
    await recordEvent(tx, userId, former ? "original_key_replaced" : "original_key_set", fingerprint, from);
  });
  return { recipient, fingerprint: getFingerprint(recipient), createdAt };
}
