import "server-only";
import { findUsersToPurge, purgeSome } from "#lib/pictures/sql";

/** What one transaction deletes, and how many users are looked at together. */
const batch = { pictures: 20, users: 20 };

/**
 * Deletes pictures that nothing refers to, a bounded number in each transaction; several processes may do it at once.
 *
 * @param seconds after which to stop, with the rest left for the next call.
 */
export async function purgePictures(seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (let purged = 1; purged > 0 && performance.now() < deadline; ) {
    purged = 0;
    for (const userId of await findUsersToPurge(batch.users)) purged += await purgeSome(userId, batch.pictures);
  }
}
