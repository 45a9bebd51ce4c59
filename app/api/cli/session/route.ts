import { describeSession } from "#lib/auth/accounts";
import { sessionResponse } from "#lib/auth/schema";
import { revokeToken } from "#lib/auth/tokens";
import { endpoint, noContent, route } from "#lib/http/route";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "bearer", response: sessionResponse }, ({ caller }) => describeSession(caller)),
  DELETE: endpoint({ auth: "bearer" }, async ({ caller }) => {
    await revokeToken(caller.userId, caller.token.id);
    return noContent();
  }),
});
