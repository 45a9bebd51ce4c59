import { endpoint, route } from "#lib/api/route";
import { readGrowth } from "#lib/traces/api";
import { countMessages } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readGrowth, async ({ caller, params, query }) => {
    await getTrace(caller.userId, params.id);
    return { ok: true as const, messages: await countMessages(caller.userId, params.id, query) };
  }),
});
