import { endpoint, route } from "#lib/api/route";
import { readPullRequestReport } from "#lib/pull-requests/api";
import { readPullRequest } from "#lib/pull-requests/pull-requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readPullRequestReport, async ({ caller, query }) => ({
    ok: true as const,
    pullRequest: await readPullRequest(caller.userId, query),
  })),
});
