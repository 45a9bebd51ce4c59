import "server-only";
import { resolveSearch } from "#lib/traces/search";
import type { Selection } from "#lib/traces/sql/conditions";
import { type Neighbour, readNeighbour } from "#lib/traces/sql/list";

export type { Neighbour };

/** Among how many of the newest hits of a search neighbours are looked for. */
const maxFound = 2000;

/**
 * The traces beside one in a user's filtered list, newest activity first.
 *
 * @returns `newer` comes before it in the list, `older` after it; either may be missing.
 */
export async function neighbours(
  userId: string,
  traceId: string,
  filter: Selection,
): Promise<{ newer: Neighbour | undefined; older: Neighbour | undefined }> {
  const selection = await resolveSearch(userId, filter, { limit: maxFound });
  const [newer, older] = await Promise.all([
    readNeighbour(userId, traceId, selection, "newer"),
    readNeighbour(userId, traceId, selection, "older"),
  ]);
  return { newer, older };
}
