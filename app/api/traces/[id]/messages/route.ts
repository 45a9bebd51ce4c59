import { endpoint, route } from "#lib/api/route";
import { readMessageList } from "#lib/traces/api";
import { listMessages } from "#lib/traces/messages";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readMessageList, async ({ caller, params, query }) => ({
    ok: true as const,
    ...(await listMessages(caller.userId, params.id, query)),
  })),
});
