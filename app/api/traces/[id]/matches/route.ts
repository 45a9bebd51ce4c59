import { endpoint, route } from "#lib/api/route";
import { findInMessages } from "#lib/messages/find-in-messages";
import { findMatches } from "#lib/traces/api";
import { getTrace } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(findMatches, async ({ caller, params, query }) => {
    await getTrace(caller.userId, params.id);
    return { ok: true as const, ...(await findInMessages(caller.userId, params.id, query.q)) };
  }),
});
