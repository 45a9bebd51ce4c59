import { endpoint, idParams, route } from "#lib/http/route";
import { exportTrace } from "#lib/traces/export";
import { getTraceRow } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie-or-bearer", params: idParams }, async ({ caller, params }) => {
    const trace = await getTraceRow(caller.userId, params.id);
    const headers = {
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="spoor-${trace.id}.json"`,
    };
    return new Response(exportTrace(caller.userId, trace), { headers });
  }),
});
