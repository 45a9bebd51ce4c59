import { endpoint, route } from "#lib/api/route";
import { registerAgent } from "#lib/auth/oauth/api";
import { answerOauth, noStore, readMetadata } from "#lib/auth/oauth/http";
import { registerClient } from "#lib/auth/oauth/registration";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(registerAgent, ({ request, address }) =>
    answerOauth("register", address, async () => {
      const { id, name, redirectUris } = registerClient(await readMetadata(request));
      const registered = {
        client_id: id,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      };
      return Response.json(registered, { status: 201, headers: noStore });
    }),
  ),
});
