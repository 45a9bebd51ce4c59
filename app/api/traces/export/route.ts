import { endpoint, route } from "#lib/api/route";
import { exportAllTraces } from "#lib/traces/api";
import { exportTraces } from "#lib/traces/export";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportAllTraces, ({ caller, query }) => {
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="spoor-traces.jsonl"',
    };
    return new Response(exportTraces(caller.userId, query), { headers });
  }),
});
