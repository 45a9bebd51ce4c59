import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { exportTraceAsMarkdown } from "#lib/traces/api";
import { githubMarkdown } from "#lib/traces/export/github";
import { streamMarkdown } from "#lib/traces/export/markdown";
import { getTraceRow } from "#lib/traces/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportTraceAsMarkdown, async ({ request, caller, params, query }) => {
    const trace = await getTraceRow(caller.userId, params.id);
    const { from = null, to = null } = query;
    const body = query.for
      ? await githubMarkdown(caller.userId, trace, { from, to, masked: !query.plain })
      : await streamMarkdown(caller.userId, trace, query.masked);
    await recordExport(request, caller.userId, "trace_exported", trace.id);
    const headers = {
      "Content-Type": "text/markdown; charset=utf-8",
      "Content-Disposition": `attachment; filename="spoor-${trace.id}.md"`,
    };
    return new Response(body, { headers });
  }),
});
