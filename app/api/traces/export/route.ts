import { endpoint, route } from "#lib/api/route";
import { exportTraceList } from "#lib/traces/api";
import { exportTraces } from "#lib/traces/export";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceList, ({ caller, query: { id: ids, ...filter } }) => {
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="spoor-traces.jsonl"',
    };
    return new Response(exportTraces(caller.userId, { ...filter, ids }), { headers });
  }),
});
