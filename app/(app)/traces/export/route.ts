import { parse } from "#lib/api/parse";
import { endpoint, route } from "#lib/api/route";
import { exportTraces } from "#lib/traces/export";
import { tickedIds } from "../ticked";

/** For the list's own form: the sessions that are ticked in it, as JSON lines. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie" }, ({ caller, request }) => {
    const ids = parse(tickedIds, new URL(request.url).searchParams.getAll("id"));
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="spoor-traces.jsonl"',
    };
    return new Response(exportTraces(caller.userId, { ids }), { headers });
  }),
});
