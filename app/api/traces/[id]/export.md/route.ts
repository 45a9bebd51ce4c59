import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { exportTraceAsMarkdown } from "#lib/traces/api";
import { markdownOf } from "#lib/traces/markdown";
import { getTraceRow } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceAsMarkdown, async ({ request, caller, params }) => {
    const trace = await getTraceRow(caller.userId, params.id);
    const stream = await markdownOf(caller.userId, trace);
    await recordExport(request, caller.userId, "trace_exported", trace.id);
    const headers = {
      "Content-Type": "text/markdown; charset=utf-8",
      "Content-Disposition": `attachment; filename="spoor-${trace.id}.md"`,
    };
    return new Response(stream, { headers });
  }),
});
