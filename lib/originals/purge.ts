import "server-only";
import { findUsersToPurge, purgeSome } from "#lib/originals/sql";

const batch = { parts: 50, users: 20 };

/**
 * Deletes parts that no copy refers to, a bounded number per transaction; several processes may run it at once.
 *
 * @param seconds time limit; the rest is left for the next call
 */
export async function purgeParts(seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (let purged = 1; purged > 0 && performance.now() < deadline; ) {
    purged = 0;
    for (const userId of await findUsersToPurge(batch.users)) purged += await purgeSome(userId, batch.parts);
  }
}
