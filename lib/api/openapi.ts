// The API's own description: an OpenAPI 3.1 document, made of the operations that the routes are made of.
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import {
  authComponent,
  drainNow,
  readDescription,
  readHealth,
  readLimits,
  readMetrics,
  readReadiness,
} from "#lib/api/service";
import { endSession, readSession } from "#lib/auth/api";
import { pollDeviceLogin, startDeviceLogin } from "#lib/device/api";
import { env } from "#lib/env";
import { type ErrorCode, errorTable } from "#lib/errors";
import type { Answer, Group, Header, Operation } from "#lib/http/operation";
import { readJob, readRawUpload, sendBatch } from "#lib/ingest/api";
import { ingestMessage, ingestTrace, jobResponse } from "#lib/ingest/schema";
import { sendTelemetry } from "#lib/telemetry/api";
import {
  exportAllTraces,
  exportTraceAsJson,
  exportTraceAsMarkdown,
  findMatches,
  readGrowth,
  readMessages,
  readTrace,
  readTraces,
  removeTrace,
} from "#lib/traces/api";
import { messageShape, traceShape } from "#lib/traces/schema";

/** Every operation of the API, in the order in which they are read. */
export const operations: readonly Operation[] = [
  ...[startDeviceLogin, pollDeviceLogin],
  ...[readSession, endSession, authComponent],
  ...[sendBatch, readJob, readRawUpload],
  ...[readTraces, readTrace, removeTrace, readMessages, findMatches, readGrowth, exportAllTraces],
  ...[exportTraceAsJson, exportTraceAsMarkdown],
  sendTelemetry,
  ...[readLimits, readHealth, readReadiness, readMetrics, drainNow, readDescription],
];

export const groups: Record<Group, string> = {
  "Device login":
    "How a command-line client gets its token: it starts a login, a person approves it in a browser, the client polls.",
  Sessions: "Whose a token is, and its end.",
  Ingest: "Sending conversations, and the jobs that make rows of them.",
  Conversations: "Reading, exporting and deleting what is stored.",
  Telemetry: "How a client's parsers did.",
  "The server": "Its limits, its health, and what its operator has for programs.",
};

/** What each error says of itself where its operation has nothing better to say. */
const usualErrors: Record<ErrorCode, string> = {
  invalid_json: "The body is not JSON in UTF-8.",
  invalid_request: "A field or parameter is wrong; `errors` has its path.",
  invalid_grant: "The code is unknown.",
  missing_token: "There is no token.",
  invalid_token: "The token is unknown, expired or revoked.",
  access_denied: "This is not allowed.",
  not_found: "There is nothing here, or it is somebody else's.",
  method_not_allowed: "The path does not take this method; `Allow` names those that it takes.",
  request_timeout: "The body came too slowly.",
  already_consumed: "It was used before.",
  expired_token: "Its time is over.",
  payload_too_large: "The body is over its limit, which `detail` names.",
  unsupported_media_type: "The Content-Type is not application/json.",
  unsupported_encoding: "This route takes bodies without Content-Encoding.",
  idempotency_key_reused: "The key came before with other bytes.",
  slow_down: "Too many polls; wait for Retry-After.",
  rate_limited: "Too many requests; wait for Retry-After.",
  internal: "Something went wrong on the server; its log says what, under the request id.",
  overloaded: "The server has too much to do; wait for Retry-After.",
  unavailable: "The server can't reach its database, or can't take more. Nothing was stored; wait for Retry-After.",
};

const problem = z.object({
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
    .describe("Which fields are wrong, and how. For invalid requests only."),
  requestId: z.uuid().describe("As in X-Request-Id; the server's log knows it."),
});

const requestId = "5773e550-77c9-4795-9ac4-6e0b50f69239";

const commonHeaders: Record<string, Header> = {
  "X-Request-Id": { text: "The request's id, under which the server's log knows it.", example: requestId },
  "Cache-Control": { text: "No answer of the API is to be stored.", example: "no-store" },
};

const headersOf = (headers: Record<string, Header>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { text, example }]) => [
      name,
      { description: text, required: true, schema: { type: "string" as const }, example },
    ]),
  );

/** The error codes of an operation, with when each is answered. */
export function errorsOf({ auth, params, query, body, about }: Operation): Partial<Record<ErrorCode, string>> {
  const { secret, sent, errors } = about;
  const authorized = auth !== "none" || secret !== undefined;
  const takesBody = body !== undefined || sent !== undefined;
  const codes: ErrorCode[] = [
    ...(takesBody ? (["invalid_json"] as const) : []),
    ...(takesBody || query ? (["invalid_request"] as const) : []),
    ...(authorized ? (["missing_token"] as const) : []),
    ...(authorized && auth !== "cookie" ? (["invalid_token"] as const) : []),
    ...(params || secret ? (["not_found"] as const) : []),
    ...(takesBody
      ? (["request_timeout", "payload_too_large", "unsupported_media_type", "unsupported_encoding"] as const)
      : []),
    "internal",
    "unavailable",
  ];
  const own = secret ? { not_found: `The operator did not set \`${secret}\`.` } : {};
  return { ...Object.fromEntries(codes.map((code) => [code, usualErrors[code]])), ...own, ...errors };
}

/** An error's body as the server writes it. @param field one that may be wrong */
function problemExample(code: ErrorCode, when: string, field: string) {
  const errors = code === "invalid_request" ? { errors: [{ path: field, message: "is not valid" }] } : {};
  const { status, title } = errorTable[code];
  const detail = when.replaceAll("`", "");
  return { ok: false, type: "about:blank", title, status, detail, error: code, ...errors, requestId };
}

const retryAfter: Header = { text: "Seconds to wait before the next try.", example: "5" };
const challenge: Header = {
  text: 'How to authorize; with `error="invalid_token"` where a token was presented.',
  example: 'Bearer realm="spoor"',
};

/** The errors of one status as one response. */
function problemAnswer(status: number, errors: [ErrorCode, string][], field: string): ZodOpenApiResponseObject {
  const headers = {
    ...commonHeaders,
    ...(status === 401 ? { "WWW-Authenticate": challenge } : {}),
    ...(status === 429 || status === 503 ? { "Retry-After": retryAfter } : {}),
  };
  return {
    description: errors.map(([code, when]) => `\`${code}\`: ${when}`).join("\n\n"),
    headers: headersOf(headers),
    content: {
      "application/problem+json": {
        schema: problem,
        examples: Object.fromEntries(
          errors.map(([code, when]) => [code, { value: problemExample(code, when, field) }]),
        ),
      },
    },
  };
}

function successAnswer(
  { text, schema, type, headers, example }: Answer,
  response?: z.ZodType,
): ZodOpenApiResponseObject {
  const shape = schema ?? response;
  return {
    description: text,
    headers: headersOf({ ...commonHeaders, ...headers }),
    ...(shape
      ? { content: { [type ?? "application/json"]: { schema: shape, examples: { usual: { value: example } } } } }
      : {}),
  };
}

/** The first field of what an operation takes. */
function fieldOf({ query, body, about }: Operation): string {
  const taken = about.sent ?? body?.schema ?? query;
  return (taken instanceof z.ZodObject && Object.keys(taken.shape)[0]) || "field";
}

/** Every answer of an operation by its status. A 503 that is a success of its own kind (readiness) stays what it is. */
function answersOf(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const errors = Object.entries(errorsOf(operation)) as [ErrorCode, string][];
  const byStatus = Map.groupBy(errors, ([code]) => errorTable[code].status);
  const problems = [...byStatus].map(
    ([status, codes]) => [String(status), problemAnswer(status, codes, fieldOf(operation))] as const,
  );
  const successes = Object.entries(operation.about.answers).map(
    ([status, answer]) => [status, successAnswer(answer, operation.response)] as const,
  );
  return Object.fromEntries([...problems, ...successes]);
}

/** By which of them a caller may authorize: one suffices, and none is needed where the empty one is among them. */
function securityOf({ auth, about, path }: Operation): Record<string, string[]>[] {
  if (about.secret) return [{ operatorSecret: [] }];
  if (path === sendTelemetry.path) return [{}, { token: [] }];
  const ways: Record<Operation["auth"], Record<string, string[]>[]> = {
    none: [],
    bearer: [{ token: [] }],
    cookie: [{ session: [] }],
    "cookie-or-bearer": [{ token: [] }, { session: [] }],
  };
  return ways[auth];
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { params, query, body, about } = operation;
  const sent = about.sent ?? body?.schema;
  const header = Object.entries(about.headers ?? {}).map(([name, { text, example }]) => ({
    name,
    in: "header" as const,
    description: text,
    schema: { type: "string" as const },
    example,
  }));
  return {
    tags: [about.group],
    summary: about.summary,
    description: about.text,
    security: securityOf(operation),
    ...(header.length > 0 ? { parameters: header } : {}),
    ...(params || query ? { requestParams: { ...(params ? { path: params } : {}), ...(query ? { query } : {}) } } : {}),
    ...(sent
      ? {
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: sent, examples: { usual: { value: about.example?.body } } },
            },
          },
        }
      : {}),
    responses: answersOf(operation),
  };
}

const operationId = (operation: Operation, method: string) =>
  [method.toLowerCase(), ...operation.path.split(/\W+/).slice(2)].filter(Boolean).join("-");

/** The methods of a path, and OPTIONS, which tells them. */
function pathItem(of: Operation[]) {
  const described = of.flatMap((operation) =>
    operation.methods.map((method) => [
      method.toLowerCase(),
      { operationId: operationId(operation, method), ...describe(operation) },
    ]),
  );
  const methods = of.flatMap((operation) => operation.methods);
  const hasHead = of.some(({ methods, about }) => methods.includes("GET") && about.head !== false);
  const allow = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"].filter((method) =>
    method === "HEAD" ? hasHead : method === "OPTIONS" || methods.some((known) => known === method),
  );
  const isOurs = !of.includes(authComponent);
  return { ...Object.fromEntries(described), ...(isOurs ? { options: optionsOf(of, allow.join(", ")) } : {}) };
}

function optionsOf([first]: Operation[], allow: string): ZodOpenApiOperationObject {
  return {
    tags: first ? [first.about.group] : [],
    summary: "Ask which methods the path takes",
    security: [],
    responses: {
      204: {
        description:
          "`Allow` names them. With any other method the path answers 405 `method_not_allowed` and the same `Allow`.",
        headers: headersOf({ ...commonHeaders, Allow: { text: "The methods of the path.", example: allow } }),
      },
    },
  };
}

const introduction = `A self-hosted home for the conversations that people have with coding agents.

JSON in, JSON out, in UTF-8. A body needs \`Content-Type: application/json\`; fields that are not known are never an error. Ids are UUIDs, times are ISO 8601 in UTC with milliseconds.

Every error is \`application/problem+json\` with an \`error\` code for programs and a \`detail\` for people. A path that is not there is 404 \`not_found\`, a method that a path does not take 405 \`method_not_allowed\` with \`Allow\`. Where there is a GET, HEAD answers with its status and headers. On 429 and 503 wait for \`Retry-After\` seconds.`;

/** What a reader and a generator have from `format` alone, and bounds that say no more than "a number of JavaScript's". */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "date-time" || jsonSchema.format === "uuid") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER && jsonSchema.minimum === undefined) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
}

type Document = ReturnType<typeof createDocument>;
let made: Document | undefined;

/** The document. It is made once: the operations stay what they are for as long as the process lives. */
export function openApiDocument(): Document {
  made ??= createDocument(description(), { override: simplify });
  return made;
}

function description(): ZodOpenApiObject {
  return {
    openapi: "3.1.1",
    info: { title: "Spoor", version: "0.1.0", description: introduction },
    servers: [{ url: env().BASE_URL }],
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      [...Map.groupBy(operations, ({ path }) => path)].map(([path, of]) => [path, pathItem(of)]),
    ),
    components: {
      schemas: {
        Problem: problem,
        SentTrace: ingestTrace,
        SentMessage: ingestMessage,
        Job: jobResponse,
        Trace: traceShape,
        Message: messageShape,
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The token of a device login." },
        session: { type: "apiKey", in: "cookie", name: "authlib.session_token", description: "A browser's session." },
        operatorSecret: { type: "http", scheme: "bearer", description: "A secret that the operator set." },
      },
    },
  };
}
