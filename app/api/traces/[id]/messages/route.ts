import { endpoint, route } from "#lib/api/route";
import { readMessageList } from "#lib/traces/api";
import { listMessages } from "#lib/traces/message-list";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readMessageList, async ({ caller, params, query }) => {
    const page = await listMessages(caller.userId, params.id, query);
    if (!(page instanceof ReadableStream)) return { ok: true as const, ...page };
    return new Response(page, { headers: { "Content-Type": "application/json" } });
  }),
});
