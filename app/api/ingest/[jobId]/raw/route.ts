import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { readRawUpload } from "#lib/ingest/api";
import { streamUpload } from "#lib/ingest/raw/stored-upload";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readRawUpload, async ({ request, caller: { userId }, params: { jobId } }) => {
    const fileName = `spoor-upload-${jobId}.json`;
    const stream = await streamUpload(userId, jobId);
    await recordExport(request, userId, "upload_downloaded", jobId);
    const headers = {
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="${fileName}"`,
      // The content is untrusted: no browser may sniff its type, run it, or embed it in another site.
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "Cross-Origin-Resource-Policy": "same-origin",
    };
    return new Response(stream, { headers });
  }),
});
