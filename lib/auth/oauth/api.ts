import { z } from "zod";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";

const text = z.string();
const list = z.array(text);
const error = z.object({ error: text, error_description: text });
const base = "https://spoor.example.org";
const { bodyBytes, callsPerMinutePerNetwork, accessSeconds, refreshDays } = limits.oauth;

const wrong = (said: string, example: { error: string; error_description: string }) => ({
  text: said,
  schema: error,
  example,
});
const unknownClient = {
  ...wrong("This server did not register the client.", {
    error: "invalid_client",
    error_description: "This client is not registered here. Register it again.",
  }),
  headers: { "WWW-Authenticate": { text: "As with every 401.", example: 'Bearer realm="spoor"' } },
};
const tooMany = {
  text: `More than ${callsPerMinutePerNetwork} calls per minute from a network.`,
  headers: { "Retry-After": { text: "Seconds to wait.", example: "30" } },
};

export const readResourceMetadata = {
  methods: ["GET"],
  path: "/api/oauth/resource",
  auth: "none",
  response: z.object({
    resource: text,
    authorization_servers: list,
    scopes_supported: list,
    bearer_methods_supported: list,
    resource_name: text,
    resource_documentation: text,
  }),
  about: {
    group: "Agents",
    summary: "Read about the protected resource",
    text: "The same as `/.well-known/oauth-protected-resource/mcp` (RFC 9728): tells an agent where to request a token for `/mcp`.",
    database: false,
    answers: {
      200: {
        text: "The resource.",
        example: {
          resource: `${base}/mcp`,
          authorization_servers: [base],
          scopes_supported: ["traces:read"],
          bearer_methods_supported: ["header"],
          resource_name: "Spoor",
          resource_documentation: `${base}/docs`,
        },
      },
    },
  },
} satisfies Operation;

export const readServerMetadata = {
  methods: ["GET"],
  path: "/api/oauth/server",
  auth: "none",
  response: z.object({
    issuer: text,
    authorization_endpoint: text,
    token_endpoint: text,
    registration_endpoint: text,
    revocation_endpoint: text,
    scopes_supported: list,
    response_types_supported: list,
    response_modes_supported: list,
    grant_types_supported: list,
    token_endpoint_auth_methods_supported: list,
    revocation_endpoint_auth_methods_supported: list,
    code_challenge_methods_supported: list,
    authorization_response_iss_parameter_supported: z.boolean(),
    client_id_metadata_document_supported: z.boolean(),
    service_documentation: text,
  }),
  about: {
    group: "Agents",
    summary: "Read about the authorization server",
    text: "The same as `/.well-known/oauth-authorization-server` (RFC 8414). A person decides at `/oauth/authorize`.",
    database: false,
    answers: {
      200: {
        text: "The endpoints and their supported values.",
        example: {
          issuer: base,
          authorization_endpoint: `${base}/oauth/authorize`,
          token_endpoint: `${base}/api/oauth/token`,
          registration_endpoint: `${base}/api/oauth/register`,
          revocation_endpoint: `${base}/api/oauth/revoke`,
          scopes_supported: ["traces:read"],
          response_types_supported: ["code"],
          response_modes_supported: ["query"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          token_endpoint_auth_methods_supported: ["none"],
          revocation_endpoint_auth_methods_supported: ["none"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          client_id_metadata_document_supported: false,
          service_documentation: `${base}/docs`,
        },
      },
    },
  },
} satisfies Operation;

export const registerAgent = {
  methods: ["POST"],
  path: "/api/oauth/register",
  auth: "none",
  about: {
    group: "Agents",
    summary: "Register an agent",
    text: `Dynamic registration of public clients (RFC 7591). Nothing is stored: the client's id contains its registration. A redirect URI is https, http on the agent's machine, or has an application's scheme: a reversed domain (RFC 8252, section 7.1), or that of a known editor. A body has at most ${bodyBytes / 1024} KiB.`,
    foreign: true,
    sent: z.looseObject({ client_name: text.optional(), redirect_uris: list }),
    answers: {
      201: {
        text: "The client.",
        schema: z.looseObject({ client_id: text, redirect_uris: list }),
        example: {
          client_id: "eyJuYW1lIjoiTXkgYWdlbnQifQ.2lVc0i1Yx3mJbq8mJ0WfJw",
          client_id_issued_at: 1_772_546_520,
          client_name: "My agent",
          redirect_uris: ["http://127.0.0.1/callback"],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
        },
      },
      400: wrong("The metadata is not valid.", {
        error: "invalid_redirect_uri",
        error_description:
          "A redirect URI must be https, http on this machine, or have an application's scheme, such as com.example.app:/callback.",
      }),
      429: tooMany,
    },
    example: { body: { client_name: "My agent", redirect_uris: ["http://127.0.0.1/callback"] } },
  },
} satisfies Operation;

export const exchangeGrant = {
  methods: ["POST"],
  path: "/api/oauth/token",
  auth: "none",
  about: {
    group: "Agents",
    summary: "Exchange a code or a refresh token",
    text: `A form (RFC 6749, sections 4.1.3 and 6; RFC 7636): \`grant_type\` \`authorization_code\` with \`code\`, \`code_verifier\`, \`redirect_uri\` and \`client_id\`, or \`refresh_token\` with \`refresh_token\` and \`client_id\`. The token works for \`/mcp\` only, for ${accessSeconds / 60} minutes. A refresh token is valid once, within ${refreshDays} days; reusing it ends the agent's access. Responses follow OAuth.`,
    foreign: true,
    form: z.looseObject({ grant_type: text, client_id: text }),
    answers: {
      200: {
        text: "The tokens.",
        schema: z.looseObject({ access_token: text, token_type: text, expires_in: z.int(), refresh_token: text }),
        example: {
          access_token: "spoor_…",
          token_type: "Bearer",
          expires_in: accessSeconds,
          refresh_token: "spoor_refresh_…",
          scope: "traces:read",
        },
      },
      400: wrong("The form, its code or its token is not valid.", {
        error: "invalid_request",
        error_description: "Content-Type is application/x-www-form-urlencoded.",
      }),
      401: unknownClient,
      429: tooMany,
    },
  },
} satisfies Operation;

export const revokeAgentToken = {
  methods: ["POST"],
  path: "/api/oauth/revoke",
  auth: "none",
  about: {
    group: "Agents",
    summary: "Revoke an agent's token",
    text: "A form (RFC 7009): `token` (an access or refresh token) and `client_id`. The agent's access ends at once. An invalid token is not an error.",
    foreign: true,
    form: z.looseObject({ token: text, client_id: text }),
    answers: {
      200: { text: "The token is revoked.", schema: z.looseObject({}), example: {} },
      400: wrong("The form is not valid.", {
        error: "invalid_request",
        error_description: "Content-Type is application/x-www-form-urlencoded.",
      }),
      401: unknownClient,
      429: tooMany,
    },
  },
} satisfies Operation;
