import { endpoint, route } from "#lib/http/route";
import { exportTraces } from "#lib/traces/export";
import { traceFilter } from "#lib/traces/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie-or-bearer", query: traceFilter }, ({ caller, query }) => {
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="spoor-traces.jsonl"',
    };
    return new Response(exportTraces(caller.userId, query), { headers });
  }),
});
