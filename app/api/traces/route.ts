import { endpoint, route } from "#lib/http/route";
import { listTraces } from "#lib/traces/queries";
import { listQuery, listResponse } from "#lib/traces/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(
    { auth: "cookie-or-bearer", query: listQuery, response: listResponse },
    async ({ caller, query: { cursor, limit, ...filter } }) => ({
      ok: true as const,
      ...(await listTraces(caller.userId, filter, { cursor, limit })),
    }),
  ),
});
