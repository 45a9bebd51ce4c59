import { endpoint, route } from "#lib/api/route";
import { listTouching } from "#lib/files/files";
import { readFileList } from "#lib/files/api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readFileList, async ({ caller, query }) => ({
    ok: true as const,
    ...(await listTouching(caller.userId, query)),
  })),
});
