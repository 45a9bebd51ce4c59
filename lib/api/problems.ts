// The examples are real answers: tests/api/openapi.test.ts sends them all.
import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { type ErrorCode, errorTable, insufficientScope } from "#lib/core/errors";
import { fieldErrors, sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { ErrorExample, Header, Operation } from "#lib/http/operation";

const usualErrors: Record<ErrorCode, string> = {
  invalid_json: "The body is not JSON in UTF-8.",
  invalid_request: "A field or parameter is not valid; `errors` contains its path.",
  invalid_grant: "The code is unknown.",
  missing_token: "There is no token.",
  invalid_token: "The token is unknown, expired or revoked.",
  access_denied: "This is not allowed.",
  not_found: "The object does not exist, or belongs to another user.",
  method_not_allowed: "The path does not support this method; `Allow` lists the supported ones.",
  request_timeout: "The body arrived too slowly.",
  already_consumed: "It was already used.",
  parts_missing: "The copy names parts that are not stored; `missing` lists them.",
  expired_token: "It has expired.",
  session_deleted: "The session was deleted here.",
  precondition_failed: "It has changed since it was read.",
  payload_too_large: "The body is too large; `detail` contains the limit.",
  unsupported_media_type: "The Content-Type is not application/json.",
  unsupported_encoding: "This route does not support Content-Encoding.",
  idempotency_key_reused: "The key was already used with other bytes.",
  invalid_part: "The bytes are no age file, or have another SHA-256.",
  precondition_required: "There is neither `If-None-Match: *` nor `If-Match`.",
  slow_down: "Too many polls; wait for Retry-After.",
  rate_limited: "Too many requests; wait for Retry-After.",
  internal: "Internal server error. The server's log contains the cause under the request id.",
  overloaded: "The read took too long, or waited too long for your other reads; wait for Retry-After.",
  unavailable: "The database is unavailable. Nothing was stored; wait for Retry-After.",
};

export const problem = z.object({
  ok: z.literal(false),
  type: z.literal("about:blank"),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("For people."),
  error: z.enum(Object.keys(errorTable) as ErrorCode[]).describe("For programs."),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .max(20)
    .optional()
    .describe("The invalid fields. Only for `invalid_request`."),
  missing: z
    .array(sha256Text)
    .max(limits.originals.missingTold)
    .optional()
    .describe("The SHA-256s of the parts to send. Only for `parts_missing`."),
  requestId: z.uuid().describe("The same as X-Request-Id, to find the request in the server's log."),
});

const requestId = "5773e550-77c9-4795-9ac4-6e0b50f69239";

export const commonHeaders: Record<string, Header> = {
  "X-Request-Id": { text: "The request's id, as in the server's log.", example: requestId },
  "Cache-Control": { text: "API responses must not be cached.", example: "no-store" },
};

export const describeHeaders = (headers: Record<string, Header>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { text, example, optional }]) => [
      name,
      { description: text, required: !optional, schema: { type: "string" as const }, example },
    ]),
  );

export function listErrors(operation: Operation): Partial<Record<ErrorCode, ErrorExample>> {
  const { about } = operation;
  const codes = new Set([...usualCodes(operation), ...(Object.keys(about.errors ?? {}) as ErrorCode[])]);
  const own = (code: ErrorCode): ErrorExample => {
    const given = about.errors?.[code] ?? usualExample(operation, code);
    return typeof given === "string" ? { ...usualExample(operation, code), when: given } : given;
  };
  return Object.fromEntries([...codes].map((code) => [code, own(code)]));
}

function usualCodes({ methods, auth, scope, params, query, body, about }: Operation): ErrorCode[] {
  if (about.foreign) return [];
  const authorized = auth !== "none" || about.secret !== undefined;
  const takesJson = body !== undefined || about.sent !== undefined;
  const takesBody = takesJson || about.raw !== undefined;
  return [
    ...(takesJson ? (["invalid_json"] as const) : []),
    ...(takesJson || query ? (["invalid_request"] as const) : []),
    ...(authorized ? (["missing_token"] as const) : []),
    ...(authorized && auth !== "cookie" ? (["invalid_token"] as const) : []),
    ...(scope && scope !== "none" ? (["access_denied"] as const) : []),
    ...(params || about.secret ? (["not_found"] as const) : []),
    ...(takesBody
      ? (["request_timeout", "payload_too_large", "unsupported_media_type", "unsupported_encoding"] as const)
      : []),
    ...(about.group === "Traces" && methods.includes("GET") ? (["overloaded"] as const) : []),
    ...(about.database === false ? [] : (["unavailable"] as const)),
  ];
}

function usualExample(operation: Operation, code: ErrorCode): ErrorExample {
  const { auth, scope, body, about } = operation;
  const when = usualErrors[code];
  if (code === "access_denied" && scope && scope !== "none")
    return { when: `The token lacks the scope \`${scope}\`.`, detail: insufficientScope(scope).message };
  if (code === "invalid_request") return { when, errors: wrongFields(operation) };
  if (code === "payload_too_large" && body)
    return { when, detail: `The body is over the limit of ${body.maxBytes} bytes.` };
  if (code === "missing_token" && auth === "cookie")
    return { when: "There is no sign-in.", detail: "Sign in with a browser." };
  if (code === "missing_token" && auth === "cookie-or-bearer") {
    return {
      when: "There is no token and no sign-in.",
      detail: "Sign in, or send a token: Authorization: Bearer <token>.",
    };
  }
  if (!about.secret) return { when };
  if (code === "missing_token")
    return { when: "There is no secret.", detail: "Send the secret: Authorization: Bearer <secret>." };
  if (code === "invalid_token") return { when: "The secret is wrong.", detail: "The secret is not this server's." };
  return code === "not_found" ? { when: `The operator did not set \`${about.secret}\`.` } : { when };
}

function wrongFields({ query, body, about }: Operation): ErrorExample["errors"] {
  const schema = about.sent ?? body?.schema ?? query;
  const parsed = schema?.safeParse(about.wrong?.body ?? about.wrong?.query ?? {});
  if (!parsed?.error) throw new Error(`${about.summary}: about.wrong has to be an input that is not valid`);
  return fieldErrors(parsed.error);
}

function problemBody(code: ErrorCode, { detail, errors, missing }: ErrorExample): z.output<typeof problem> {
  const { status, title, detail: usual } = errorTable[code];
  const list = { ...(errors && { errors }), ...(missing && { missing }) };
  return { ok: false, type: "about:blank", title, status, detail: detail ?? usual, error: code, ...list, requestId };
}

const retryAfter: Header = { text: "Seconds to wait before the next attempt.", example: "5" };
const challenge: Header = {
  text: 'How to authorize; with `error="invalid_token"` where a token was sent.',
  example: 'Bearer realm="spoor"',
};
const scopeChallenge: Header = {
  text: "Sent if the token lacks the scope.",
  example: 'Bearer realm="spoor", error="insufficient_scope"',
  optional: true,
};

export function problemAnswer(
  status: number,
  errors: [ErrorCode, ErrorExample][],
  { scope = "none" }: Pick<Operation, "scope"> = {},
): ZodOpenApiResponseObject {
  const headers = {
    ...commonHeaders,
    ...(status === 401 ? { "WWW-Authenticate": challenge } : {}),
    ...(status === 403 && scope !== "none" ? { "WWW-Authenticate": scopeChallenge } : {}),
    ...(status === 429 || status === 503 ? { "Retry-After": retryAfter } : {}),
  };
  return {
    description: errors.map(([code, { when }]) => `\`${code}\`: ${when}`).join("\n\n"),
    headers: describeHeaders(headers),
    content: {
      "application/problem+json": {
        schema: problem,
        examples: Object.fromEntries(errors.map(([code, one]) => [code, { value: problemBody(code, one) }])),
      },
    },
  };
}

export const internalAnswer = () => problemAnswer(500, [["internal", { when: usualErrors.internal }]]);
