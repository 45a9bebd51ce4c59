import { endpoint, route } from "#lib/api/route";
import { readPullRequestReport } from "#lib/traces/pull-request-api";
import { readPullRequest } from "#lib/traces/pull-requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readPullRequestReport, async ({ caller, query }) => ({
    ok: true as const,
    pullRequest: await readPullRequest(caller.userId, query),
  })),
});
