import "server-only";
import { env } from "#lib/env";

/** What agents may do: read sessions over `/mcp`. There is no other scope. */
export const agentScope = "traces:read";

/** The addresses of OAuth's endpoints, and of the resource whose tokens they give. */
export function oauthAddresses() {
  const base = env().BASE_URL.replace(/\/$/, "");
  return {
    issuer: base,
    resource: `${base}/mcp`,
    resourceMetadata: `${base}/.well-known/oauth-protected-resource/mcp`,
    authorize: `${base}/oauth/authorize`,
    token: `${base}/api/oauth/token`,
    register: `${base}/api/oauth/register`,
    revoke: `${base}/api/oauth/revoke`,
    documentation: `${base}/docs`,
  };
}
