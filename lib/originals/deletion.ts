import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { prisma } from "#lib/db/client";
import { deleteOriginals, type OriginalKey } from "#lib/originals/sql";

/** Deleting a deleted copy succeeds. */
export async function deleteOriginal(userId: string, key: OriginalKey, from: AuditOrigin): Promise<void> {
  await prisma().$transaction(async (tx) => {
    if ((await deleteOriginals(tx, userId, [key])) === 0) return;
    await recordEvent(tx, userId, "original_deleted", `${key.source} ${key.sourceId}`, from);
  });
}
