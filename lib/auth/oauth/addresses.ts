import "server-only";
import { env } from "#lib/env";

/** Agents may only read sessions over `/mcp`. */
export const agentScope = "traces:read";

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
