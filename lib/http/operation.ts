// `endpoint` (lib/api/route.ts) enforces an operation, lib/api/openapi.ts describes it.
import type { z } from "zod";
import type { ErrorCode, FieldError } from "#lib/core/errors";
import type { Scope } from "#lib/core/fields";

export type Mode = "none" | "cookie" | "bearer" | "cookie-or-bearer";

export type Group =
  | "Device login"
  | "CLI token"
  | "Ingest"
  | "Exact copies"
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
  type?:
    | "application/x-ndjson"
    | "text/markdown"
    | "text/csv"
    | "text/plain"
    | "application/json"
    | "application/octet-stream"
    | "application/x-tar"
    | "image/*";
  headers?: Record<string, Header>;
  example?: unknown;
};

/** By default an example has the code's usual detail (lib/core/errors.ts). */
export type ErrorExample = { when: string; detail?: string; errors?: FieldError[]; missing?: string[] };

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
    secret?: "CRON_SECRET" | "METRICS_TOKEN";
    optionalToken?: true;
    /** False if a GET changes something. */
    head?: false;
    database?: false;
    /** None of the usual errors, and no OPTIONS. */
    foreign?: true;
    /** Describes the body if the handler reads it itself instead of declaring `body`. */
    sent?: z.ZodType;
    raw?: { types: readonly string[]; example: { type: string; base64: string } };
    form?: z.ZodType;
    headers?: Record<string, Header>;
    answers: Record<number, AnswerExample>;
    /** Adds to the errors that follow from the other fields, or replaces them. */
    errors?: Partial<Record<ErrorCode, string | ErrorExample>>;
    partialExample?: true;
    example?: { query?: Record<string, string>; body?: unknown };
    /** Input that the example of `invalid_request` refuses; empty by default. */
    wrong?: { query?: Record<string, string>; body?: unknown };
  };
};
