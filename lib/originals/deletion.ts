import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { prisma } from "#lib/db/client";
import { deleteOriginals, findUsersToPurge, type OriginalKey, purgeSome } from "#lib/originals/sql";

/** Deleting a deleted copy succeeds. */
export async function deleteOriginal(userId: string, key: OriginalKey, from: AuditOrigin): Promise<void> {
  await prisma().$transaction(async (tx) => {
    if ((await deleteOriginals(tx, userId, [key])) === 0) return;
    await recordEvent(tx, userId, "original_deleted", `${key.source} ${key.sourceId}`, from);
  });
}

const batch = { parts: 50, users: 20 };

/**
 * Deletes unused parts in bounded transactions; several processes may run it at once.
 *
 * @param seconds time limit
 */
export async function purgeParts(seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (let purged = 1; purged > 0 && performance.now() < deadline; ) {
    purged = 0;
    for (const userId of await findUsersToPurge(batch.users)) purged += await purgeSome(userId, batch.parts);
  }
}
