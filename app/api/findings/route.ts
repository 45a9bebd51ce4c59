import { endpoint, route } from "#lib/api/route";
import { readFindingList } from "#lib/findings/api";
import { listFindings } from "#lib/findings/findings";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readFindingList, async ({ caller, query }) => ({
    ok: true as const,
    ...(await listFindings(caller.userId, query)),
  })),
});
