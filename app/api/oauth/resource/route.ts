import { endpoint, route } from "#lib/api/route";
import { readResourceMetadata } from "#lib/auth/oauth/api";
import { agentScope, oauthAddresses } from "#lib/auth/oauth/protocol";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readResourceMetadata, () => {
    const { resource, issuer, documentation } = oauthAddresses();
    return {
      resource,
      authorization_servers: [issuer],
      scopes_supported: [agentScope],
      bearer_methods_supported: ["header"],
      resource_name: "Spoor",
      resource_documentation: documentation,
    };
  }),
});
