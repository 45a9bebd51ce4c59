import { endpoint, route } from "#lib/api/route";
import { exportTraceAsJson } from "#lib/traces/api";
import { exportTrace } from "#lib/traces/export";
import { getTraceRow } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceAsJson, async ({ caller, params }) => {
    const trace = await getTraceRow(caller.userId, params.id);
    const headers = {
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="spoor-${trace.id}.json"`,
    };
    return new Response(exportTrace(caller.userId, trace), { headers });
  }),
});
