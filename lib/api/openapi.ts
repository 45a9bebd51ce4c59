import type { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { groups, operations } from "#lib/api/operations";
import { commonHeaders, describeHeaders, internalAnswer, listErrors, problem, problemAnswer } from "#lib/api/problems";
import { env } from "#lib/core/env";
import { type ErrorCode, errorTable } from "#lib/core/errors";
import type { AnswerExample, ErrorExample, Operation } from "#lib/http/operation";
import { ingestMessage, ingestTrace, jobResponse } from "#lib/ingest/schema";
import { messageShape } from "#lib/messages/schema";
import { traceShape } from "#lib/traces/schema";

/** The same as in package.json (tests/unit/project/openapi.test.ts). */
const version = "0.3.0";

function successAnswer(
  { text, schema, type, headers, example }: AnswerExample,
  { response, about }: Operation,
): ZodOpenApiResponseObject {
  const shape = schema ?? response;
  return {
    description: text,
    headers: describeHeaders({ ...(about.foreign ? {} : commonHeaders), ...headers }),
    ...(shape && example !== undefined
      ? { content: { [type ?? "application/json"]: { schema: shape, examples: { usual: { value: example } } } } }
      : {}),
  };
}

function describeAnswers(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const errors = Object.entries(listErrors(operation)) as [ErrorCode, ErrorExample][];
  const byStatus = Map.groupBy(errors, ([code]) => errorTable[code].status);
  const problems = [...byStatus].map(
    ([status, codes]) => [String(status), problemAnswer(status, codes, operation)] as const,
  );
  const successes = Object.entries(operation.about.answers).map(
    ([status, answer]) => [status, successAnswer(answer, operation)] as const,
  );
  const answers = Object.fromEntries([...problems, ...successes]);
  return operation.about.foreign ? answers : { ...answers, default: internalAnswer() };
}

/** An empty alternative means that no authorization is needed. OpenAPI 3.1 allows roles in addition to a token. */
function describeSecurity({ auth, scope, about }: Operation): Record<string, string[]>[] {
  if (about.secret) return [{ operatorSecret: [] }];
  if (about.optionalToken) return [{}, { token: [] }];
  const token = scope && scope !== "none" ? [scope] : [];
  const ways: Record<Operation["auth"], Record<string, string[]>[]> = {
    none: [],
    bearer: [{ token }],
    cookie: [{ session: [] }],
    "cookie-or-bearer": [{ token }, { session: [] }],
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
    security: describeSecurity(operation),
    ...(header.length > 0 ? { parameters: header } : {}),
    ...(params || query ? { requestParams: { ...(params ? { path: params } : {}), ...(query ? { query } : {}) } } : {}),
    ...(sent ? { requestBody: describeRequestBody(operation, sent) } : {}),
    ...(about.raw ? { requestBody: describeRawBody(about.raw) } : {}),
    responses: describeAnswers(operation),
  };
}

function describeRequestBody({ about }: Operation, sent: z.ZodType) {
  const example = about.example?.body;
  return {
    required: true,
    content: {
      "application/json": { schema: sent, examples: { usual: { value: example } } },
      ...(about.form ? { "multipart/form-data": { schema: about.form } } : {}),
    },
  };
}

/** OpenAPI 3.1 gives bytes no schema. */
const describeRawBody = ({ types }: NonNullable<Operation["about"]["raw"]>) => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, {}])),
});

const operationId = (operation: Operation, method: string) =>
  [method.toLowerCase(), ...operation.path.split(/\W+/).slice(2)].filter(Boolean).join("-");

function pathItem(of: Operation[]) {
  const described = of.flatMap((operation) =>
    operation.methods.map((method) => [
      method.toLowerCase(),
      { operationId: operationId(operation, method), ...describe(operation) },
    ]),
  );
  const methods = of.flatMap((operation) => operation.methods);
  const hasHead = of.some(({ methods, about }) => methods.includes("GET") && about.head !== false);
  const allow = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) =>
    method === "HEAD" ? hasHead : method === "OPTIONS" || methods.some((known) => known === method),
  );
  const hasOptions = of.every(({ about }) => !about.foreign);
  return {
    ...Object.fromEntries(described),
    ...(hasOptions ? { options: describeOptions(of, allow.join(", ")) } : {}),
  };
}

function describeOptions([first]: Operation[], allow: string): ZodOpenApiOperationObject {
  return {
    tags: first ? [first.about.group] : [],
    summary: "List the path's methods",
    security: [],
    responses: {
      204: {
        description:
          "`Allow` lists them. Any other method is answered with 405 `method_not_allowed` and the same `Allow`.",
        headers: describeHeaders({ ...commonHeaders, Allow: { text: "The path's methods.", example: allow } }),
      },
    },
  };
}

const introduction = `A self-hosted home for the sessions of coding agents. In this API a session is a trace.

JSON in, JSON out, in UTF-8. A body needs \`Content-Type: application/json\`; unknown fields are never an error. Ids are UUIDs, times are ISO 8601 in UTC with milliseconds.

Every error is \`application/problem+json\` with an \`error\` code for programs and a \`detail\` for people. An unknown path is 404 \`not_found\`, an unsupported method 405 \`method_not_allowed\` with \`Allow\`. HEAD works wherever GET does. On 429 and 503, wait for \`Retry-After\` seconds.`;

/** Removes patterns that `format` implies, and the bounds of JavaScript's numbers. */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "date-time" || jsonSchema.format === "uuid") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER && jsonSchema.minimum === undefined) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
}

type Document = ReturnType<typeof createDocument>;
let made: Document | undefined;

export function openApiDocument(): Document {
  made ??= createDocument(description(), { override: simplify });
  return made;
}

function description(): ZodOpenApiObject {
  return {
    openapi: "3.1.1",
    info: { title: "Spoor", version, description: introduction },
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
        token: {
          type: "http",
          scheme: "bearer",
          description:
            "A CLI token, from a device login or created by hand, with one or more scopes: `ingest` sends uploads and reads their jobs, `read` reads, `delete` deletes, `originals` stores, fetches and deletes exact copies.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "authlib.session_token",
          description: "A browser's sign-in cookie.",
        },
        operatorSecret: { type: "http", scheme: "bearer", description: "A secret set by the operator." },
      },
    },
  };
}
