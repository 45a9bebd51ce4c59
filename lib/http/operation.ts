// `endpoint` (lib/api/route.ts) enforces an operation, lib/api/openapi.ts describes it.
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

export type Header = { text: string; example: string; optional?: true };

export type AnswerExample = {
  text: string;
  /** Defaults to the operation's `response`. */
  schema?: z.ZodType;
  /** Defaults to JSON. */
  type?: "application/x-ndjson" | "text/markdown" | "text/csv" | "text/plain" | "application/json" | "image/*";
  headers?: Record<string, Header>;
  /** Absent for a response without a body. */
  example?: unknown;
};

/**
 * By default an example has the code's usual detail (lib/errors.ts) and the faults that the schemas find in
 * `about.wrong`.
 */
export type ErrorExample = { when: string; detail?: string; errors?: FieldError[] };

export type NeededScope = Scope | "none";

/** `agents` also lets in an agent that a person connected (lib/auth/oauth). */
export type Authorization =
  | { auth: "none" | "cookie"; scope?: never; agents?: never }
  | { auth: "bearer" | "cookie-or-bearer"; scope: NeededScope; agents?: true };

/** One or several methods of a path; `lib/<domain>/api.ts` has those of a domain. */
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
    /** A token is not needed, but attributes the call. */
    optionalToken?: true;
    /** False if a GET changes something. */
    head?: false;
    /** False if the route needs no database. */
    database?: false;
    /** None of the usual errors, and no OPTIONS. */
    foreign?: true;
    /** The body of a route that reads it without `body`. */
    sent?: z.ZodType;
    raw?: { types: readonly string[]; example: { type: string; base64: string } };
    /** The same as a form, for a browser without JavaScript. */
    form?: z.ZodType;
    headers?: Record<string, Header>;
    answers: Record<number, AnswerExample>;
    /** Adds to the errors that follow from the other fields, or replaces them. */
    errors?: Partial<Record<ErrorCode, string | ErrorExample>>;
    /** The example is shortened, or may find nothing. */
    partialExample?: true;
    example?: { query?: Record<string, string>; body?: unknown };
    /** Input that the example of `invalid_request` refuses; empty by default. */
    wrong?: { query?: Record<string, string>; body?: unknown };
  };
};
