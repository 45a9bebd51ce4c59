import { endpoint, route } from "#lib/api/route";
import { countMessages } from "#lib/messages/read-messages";
import { readGrowth } from "#lib/traces/api";
import { getTrace } from "#lib/traces/queries";
import { readStanding } from "#lib/traces/standing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readGrowth, async ({ caller, params, query }) => {
    const trace = await getTrace(caller.userId, params.id);
    const [messages, standing] = await Promise.all([
      countMessages(caller.userId, params.id, query),
      readStanding(caller.userId, trace),
    ]);
    return { ok: true as const, messages, ...standing };
  }),
});
