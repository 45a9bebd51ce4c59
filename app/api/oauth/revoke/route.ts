import { endpoint, route } from "#lib/api/route";
import { originOf } from "#lib/auth/audit";
import { revokeAgentToken } from "#lib/auth/oauth/api";
import { endGrantOf } from "#lib/auth/oauth/grants";
import { answerOauth, clientOf, fieldOf, noStore, readForm } from "#lib/auth/oauth/http";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(revokeAgentToken, ({ request, address }) =>
    answerOauth("revoke", address, async () => {
      const form = await readForm(request);
      await endGrantOf(fieldOf(form, "token"), clientOf(form), originOf(request.headers));
      return Response.json({}, { headers: noStore });
    }),
  ),
});
