import { endpoint, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { revokeAgentToken } from "#lib/auth/oauth/api";
import { endClientGrant } from "#lib/auth/oauth/grants";
import { answerOauth, getField, noStore, readForm, readFormClient } from "#lib/auth/oauth/http";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(revokeAgentToken, ({ request, address }) =>
    answerOauth("revoke", address, async () => {
      const form = await readForm(request);
      await endClientGrant(getField(form, "token"), readFormClient(form), readOrigin(request.headers));
      return Response.json({}, { headers: noStore });
    }),
  ),
});
