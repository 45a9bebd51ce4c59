import { endpoint, route } from "#lib/api/route";
import { readProject } from "#lib/projects/api";
import { getProject } from "#lib/projects/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readProject, async ({ caller, params }) => ({
    ok: true as const,
    project: await getProject(caller.userId, params.id),
  })),
});
