import { endpoint, route } from "#lib/api/route";
import { readTraceList } from "#lib/traces/api";
import { withPullRequests } from "#lib/traces/evidence";
import { listTraces } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readTraceList, async ({ caller, query: { cursor, limit, order, sort, ...filter } }) => ({
    ok: true as const,
    ...(await withPullRequests(caller.userId, await listTraces(caller.userId, filter, { cursor, limit, order, sort }))),
  })),
});
