import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { readRawUpload } from "#lib/ingest/api";
import { streamUpload } from "#lib/ingest/raw/stored-upload";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readRawUpload, async ({ request, caller, params: { jobId } }) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="spoor-upload-${jobId}.json"`,
      // The content is untrusted: no browser may sniff its type, run it, or embed it in another site.
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "Cross-Origin-Resource-Policy": "same-origin",
    };
    const stream = await streamUpload(caller.userId, jobId);
    await recordExport(request, caller.userId, "upload_downloaded", jobId);
    return new Response(stream, { headers });
  }),
});
