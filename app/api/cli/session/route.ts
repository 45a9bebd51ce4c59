import { endpoint, noContent, route } from "#lib/api/route";
import { describeToken } from "#lib/auth/accounts";
import { endSession, readSession } from "#lib/auth/api";
import { readOrigin } from "#lib/auth/audit";
import { revokeToken } from "#lib/auth/tokens";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readSession, ({ caller }) => describeToken(caller)),
  DELETE: endpoint(endSession, async ({ caller, request }) => {
    await revokeToken(caller.userId, caller.token.id, readOrigin(request.headers));
    return noContent();
  }),
});
