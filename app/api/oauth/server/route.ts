import { endpoint, route } from "#lib/api/route";
import { readServerMetadata } from "#lib/auth/oauth/api";
import { agentScope, oauthAddresses } from "#lib/auth/oauth/protocol";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readServerMetadata, () => {
    const { issuer, authorize, token, register, revoke, documentation } = oauthAddresses();
    return {
      issuer,
      authorization_endpoint: authorize,
      token_endpoint: token,
      registration_endpoint: register,
      revocation_endpoint: revoke,
      scopes_supported: [agentScope],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: false,
      service_documentation: documentation,
    };
  }),
});
