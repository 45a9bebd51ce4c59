import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { exportTraceList } from "#lib/traces/api";
import { describeSelection, exportTraces } from "#lib/traces/export/export";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceList, async ({ request, caller, query: { id: ids, masked, ...filter } }) => {
    const selection = { ...filter, ids };
    const stream = await exportTraces(caller.userId, selection, masked);
    await recordExport(request, caller.userId, "traces_exported", describeSelection(selection));
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": 'attachment; filename="spoor-traces.jsonl"',
    };
    return new Response(stream, { headers });
  }),
});
