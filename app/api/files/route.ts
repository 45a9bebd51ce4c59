import { endpoint, route } from "#lib/api/route";
import { readFileList } from "#lib/files/api";
import { listTouching } from "#lib/files/files";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readFileList, async ({ caller, query }) => ({
    ok: true as const,
    ...(await listTouching(caller.userId, query)),
  })),
});
