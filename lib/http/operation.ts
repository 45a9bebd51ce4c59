// A route as data: who may call it, the schemas of its input and output, and its documentation. `endpoint` (lib/api/route.ts)
// enforces the first part; lib/api/openapi.ts describes all of it.
import type { z } from "zod";
import type { ErrorCode, FieldError } from "#lib/errors";
import type { Scope } from "#lib/fields";

export type Mode = "none" | "cookie" | "bearer" | "cookie-or-bearer";

export type Group =
  | "Device login"
  | "CLI token"
  | "Ingest"
  | "Traces"
  | "Projects"
  | "Usage"
  | "Telemetry"
  | "Agents"
  | "Sign-in"
  | "Server";

/** A header with an example of its value. */
export type Header = { text: string; example: string; optional?: true };

/** One response that is not a problem. */
export type AnswerExample = {
  text: string;
  /** The part of the operation's `response` that this status has, where it is not all of it. */
  schema?: z.ZodType;
  /** Where it is not JSON. */
  type?: "application/x-ndjson" | "text/markdown" | "text/csv" | "text/plain" | "application/json" | "image/*";
  headers?: Record<string, Header>;
  /** None for a response without a body. */
  example?: unknown;
};

/**
 * When an error is answered, and the `detail` and `errors` of its example. Without them the example has the code's usual
 * detail (lib/errors.ts) and the faults that the schemas find in `about.wrong`.
 */
export type ErrorExample = { when: string; detail?: string; errors?: FieldError[] };

/** The scope that a token needs for a call; `none` where every valid token of a machine opens it. */
export type NeededScope = Scope | "none";

/**
 * Who may call an operation. Where a token opens it, it says with which scope; where `agents`, the token of an agent that a
 * person let in (lib/auth/oauth) opens it, too.
 */
export type Authorization =
  | { auth: "none" | "cookie"; scope?: never; agents?: never }
  | { auth: "bearer" | "cookie-or-bearer"; scope: NeededScope; agents?: true };

/** One or several methods of a path. A module `lib/<domain>/api.ts` has those of its domain, with the schemas. */
export type Operation = Authorization & {
  methods: readonly ("GET" | "POST" | "PUT" | "PATCH" | "DELETE")[];
  path: `/api/${string}`;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: { schema: z.ZodType; maxBytes: number };
  response?: z.ZodType;
  about: {
    group: Group;
    summary: string;
    text: string;
    /** The operator's secret that authorizes the call. */
    secret?: "CRON_SECRET" | "METRICS_TOKEN";
    /** A token is not needed, but read where there is one. */
    optionalToken?: true;
    /** False where a GET changes something, so that there is no HEAD. */
    head?: false;
    /** False where the route answers without the database, so never `unavailable`. */
    database?: false;
    /** Has its own contract: none of the usual errors, and no OPTIONS. */
    foreign?: true;
    /** The body of a route that reads it without `body`. */
    sent?: z.ZodType;
    /** A body that is not JSON: its types, and one in base64. */
    raw?: { types: readonly string[]; example: { type: string; base64: string } };
    /** The same as a form, for a browser without JavaScript. */
    form?: z.ZodType;
    headers?: Record<string, Header>;
    answers: Record<number, AnswerExample>;
    /** Errors beside those that follow from `auth`, `params`, `query` and a body; or another text or example for one of those. */
    errors?: Partial<Record<ErrorCode, string | ErrorExample>>;
    /** The example of the response is shortened, or the example of a call may find nothing. */
    partialExample?: true;
    example?: { query?: Record<string, string>; body?: unknown };
    /** Input that the example of `invalid_request` refuses; an empty one by default. */
    wrong?: { query?: Record<string, string>; body?: unknown };
  };
};
