import { endpoint, route } from "#lib/api/route";
import { listTouching } from "#lib/traces/files";
import { readFileList } from "#lib/traces/files-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readFileList, async ({ caller, query }) => ({
    ok: true as const,
    ...(await listTouching(caller.userId, query)),
  })),
});
