// The request of the consent page: RFC 6749, section 4.1.1, RFC 7636 and RFC 8707.
import "server-only";
import { agentScope, OauthError, oauthAddresses } from "#lib/auth/oauth/protocol";
import { hasRedirectUri, type OauthClient, readClient } from "#lib/auth/oauth/registration";
import { limits } from "#lib/core/limits";

type AuthorizeQuery = { [name: string]: string | string[] | undefined };

export type ReturnTo = { redirectUri: string; state: string | undefined };

export type AgentRequest = { client: OauthClient; returnTo: ReturnTo } & (
  | { challenge: string }
  | { refused: OauthError }
);

/** @throws OauthError if nobody may be redirected: the client or its redirect URI is unknown */
export function readAgentRequest(query: AuthorizeQuery): AgentRequest {
  const client = readClient(getText(query.client_id));
  const redirectUri =
    getText(query.redirect_uri) ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined);
  if (!redirectUri || !hasRedirectUri(client, redirectUri))
    throw new OauthError("invalid_redirect_uri", "The agent did not register this redirect URI.");
  // Unchanged: a client refuses an answer with another state.
  const returnTo = { redirectUri, state: getText(query.state) };
  try {
    return { client, returnTo, challenge: readChallenge(query) };
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return { client, returnTo, refused: error };
  }
}

function readChallenge(query: AuthorizeQuery): string {
  if (Object.values(query).some(Array.isArray)) throw new OauthError("invalid_request", "A parameter occurs twice.");
  if (query.response_type !== "code") throw new OauthError("unsupported_response_type", "response_type is code.");
  if (query.code_challenge_method !== "S256") throw new OauthError("invalid_request", "code_challenge_method is S256.");
  const challenge = getText(query.code_challenge) ?? "";
  // A SHA-256 in Base64url (RFC 7636, section 4.2).
  if (!/^[\w-]{43}$/.test(challenge))
    throw new OauthError("invalid_request", "code_challenge is no SHA-256 in Base64url.");
  const { stateCharacters } = limits.oauth;
  if ((getText(query.state) ?? "").length > stateCharacters)
    throw new OauthError("invalid_request", `state has more than ${stateCharacters} characters.`);
  requireScope(getText(query.scope));
  requireResource(getText(query.resource));
  return challenge;
}

/** Whatever a client requests, only reading is granted. */
export function requireScope(scope: string | undefined): void {
  const asked = (scope ?? "").split(" ").filter(Boolean);
  if (asked.length > 0 && !asked.includes(agentScope))
    throw new OauthError("invalid_scope", `The only valid scope is ${agentScope}.`);
}

/** Tokens are only for this server's `/mcp`. */
export function requireResource(resource: string | undefined): void {
  const { resource: own } = oauthAddresses();
  if (resource !== undefined && resource.replace(/\/$/, "") !== own)
    throw new OauthError("invalid_target", `The resource must be ${own}.`);
}

/** RFC 6749, section 4.1.2; RFC 9207. */
export function answerAddress({ redirectUri, state }: ReturnTo, answer: Record<string, string>): string {
  const url = new URL(redirectUri);
  const all = { ...answer, ...(state === undefined ? {} : { state }), iss: oauthAddresses().issuer };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

const getText = (value: AuthorizeQuery[string]) => (typeof value === "string" && value !== "" ? value : undefined);
