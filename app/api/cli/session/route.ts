import { describeSession } from "#lib/auth/accounts";
import { originOf } from "#lib/auth/audit";
import { sessionResponse } from "#lib/auth/schema";
import { revokeTokens } from "#lib/auth/tokens";
import { endpoint, noContent, route } from "#lib/http/route";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "bearer", response: sessionResponse }, ({ caller }) => describeSession(caller)),
  DELETE: endpoint({ auth: "bearer" }, async ({ caller, request }) => {
    await revokeTokens(caller.userId, caller.token.id, originOf(request.headers));
    return noContent();
  }),
});
