import { endpoint, route } from "#lib/api/route";
import { env, isFunctionHost } from "#lib/core/env";
import { readGrowth as readGrowthOperation } from "#lib/traces/api";
import { readGrowth, streamGrowth } from "#lib/traces/growth";

/** A function host bills each second of an open response. */
const isStreamed = ({ headers }: Request) => headers.get("accept") === "text/event-stream" && !isFunctionHost(env());

/** No proxy may hold an event back to compress or collect it. */
const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readGrowthOperation, async ({ request, caller, params, query }) => {
    const stream = isStreamed(request) ? await streamGrowth(caller.userId, params.id, query.after) : undefined;
    if (stream) return new Response(stream, { headers });
    return { ok: true as const, ...(await readGrowth(caller.userId, params.id, query.after)) };
  }),
});
