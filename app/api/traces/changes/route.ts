import { endpoint, route } from "#lib/api/route";
import { readChanges } from "#lib/traces/api";
import { countChanges } from "#lib/traces/facets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readChanges, async ({ caller, query: { id, updatedAt, ...filter } }) => ({
    ok: true as const,
    count: await countChanges(caller.userId, filter, { id, activityAt: updatedAt }),
  })),
});
