import { endpoint, route } from "#lib/api/route";
import { readFacetValues } from "#lib/traces/api";
import { readFacets } from "#lib/traces/facets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readFacetValues, async ({ caller, query }) => ({
    ok: true as const,
    ...(await readFacets(caller.userId, query)),
  })),
});
