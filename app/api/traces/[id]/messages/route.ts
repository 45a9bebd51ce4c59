import { endpoint, idParams, route } from "#lib/http/route";
import { listMessages } from "#lib/traces/messages";
import { messagesQuery, messagesResponse } from "#lib/traces/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(
    { auth: "cookie-or-bearer", params: idParams, query: messagesQuery, response: messagesResponse },
    async ({ caller, params, query }) => ({
      ok: true as const,
      ...(await listMessages(caller.userId, params.id, query)),
    }),
  ),
});
