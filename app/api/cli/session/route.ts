import { endpoint, noContent, route } from "#lib/api/route";
import { describeSession } from "#lib/auth/accounts";
import { endSession, readSession } from "#lib/auth/api";
import { originOf } from "#lib/auth/audit";
import { revokeTokens } from "#lib/auth/tokens";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readSession, ({ caller }) => describeSession(caller)),
  DELETE: endpoint(endSession, async ({ caller, request }) => {
    await revokeTokens(caller.userId, caller.token.id, originOf(request.headers));
    return noContent();
  }),
});
