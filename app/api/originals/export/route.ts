import { endpoint, route } from "#lib/api/route";
import { recordExport } from "#lib/auth/audit";
import { exportAllOriginals } from "#lib/originals/api";
import { exportOriginals } from "#lib/originals/export";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportAllOriginals, async ({ request, caller }) => {
    const stream = await exportOriginals(caller.userId);
    await recordExport(request, caller.userId, "originals_exported", "all");
    const headers = {
      "Content-Type": "application/x-tar",
      "Content-Disposition": 'attachment; filename="spoor-originals.tar"',
    };
    return new Response(stream, { headers });
  }),
});
