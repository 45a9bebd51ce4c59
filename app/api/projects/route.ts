import { endpoint, route } from "#lib/api/route";
import { readProjectList } from "#lib/projects/api";
import { listProjects } from "#lib/projects/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readProjectList, async ({ caller, query }) => ({
    ok: true as const,
    ...(await listProjects(caller.userId, query)),
  })),
});
