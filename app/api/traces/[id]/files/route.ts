import { endpoint, route } from "#lib/api/route";
import { readTraceFileList } from "#lib/files/api";
import { listTraceFiles } from "#lib/files/files";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readTraceFileList, async ({ caller, params, query }) => ({
    ok: true as const,
    ...(await listTraceFiles(caller.userId, params.id, query)),
  })),
});
