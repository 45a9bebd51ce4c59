import { endpoint, route } from "#lib/api/route";
import { callMcp } from "#lib/mcp/api";
import { answerCall } from "#lib/mcp/server";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(callMcp, ({ request, body, caller }) =>
    answerCall(request, body, { userId: caller.userId, projectId: caller.grant?.projectId ?? null }),
  ),
});
