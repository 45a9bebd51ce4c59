import "server-only";
import { resolveSearch } from "#lib/traces/search";
import type { Selection } from "#lib/traces/sql/conditions";
import { type Neighbour, readNeighbour } from "#lib/traces/sql/list";

export type { Neighbour };

const maxFound = 2000;

/** The previous (`newer`) and next (`older`) traces in the filtered list; either may be missing. */
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
