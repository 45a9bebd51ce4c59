import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { exportTraceAsJson } from "#lib/traces/api";
import { exportTrace } from "#lib/traces/export/export";
import { getTraceRow } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceAsJson, async ({ request, caller, params, query }) => {
    const trace = await getTraceRow(caller.userId, params.id);
    const stream = await exportTrace(caller.userId, trace, query.masked);
    await recordExport(request, caller.userId, "trace_exported", trace.id);
    const headers = {
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="spoor-${trace.id}.json"`,
    };
    return new Response(stream, { headers });
  }),
});
