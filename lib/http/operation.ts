// What a route is, as data: who may call it, the shapes of what goes in and comes out, and what a reader is told of it.
// `endpoint` keeps to the first half of it; lib/api/openapi.ts makes a description of all of it.
import type { z } from "zod";
import type { ErrorCode } from "#lib/errors";

export type Mode = "none" | "cookie" | "bearer" | "cookie-or-bearer";

export type Group = "Device login" | "Sessions" | "Ingest" | "Conversations" | "Telemetry" | "The server";

/** A header with an example of its value. */
export type Header = { text: string; example: string };

/** One answer of a success. */
export type Answer = {
  text: string;
  /** What of the operation's `response` this status has, where it is not all of it. */
  schema?: z.ZodType;
  /** Where it is not JSON. */
  type?: "application/x-ndjson" | "text/markdown" | "text/plain" | "application/json";
  headers?: Record<string, Header>;
  /** None for an answer without a body. */
  example?: unknown;
};

/** One or several methods of a path. A module `lib/<domain>/api.ts` has those of its domain, with the schemas. */
export type Operation = {
  methods: readonly ("GET" | "POST" | "DELETE")[];
  path: `/api/${string}`;
  auth: Mode;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: { schema: z.ZodType; maxBytes: number };
  response?: z.ZodType;
  about: {
    group: Group;
    summary: string;
    text: string;
    /** The secret of the operator's that opens it. */
    secret?: "CRON_SECRET" | "METRICS_TOKEN";
    /** False where a GET changes something, so that there is no HEAD. */
    head?: false;
    /** A body that the route reads by itself. */
    sent?: z.ZodType;
    headers?: Record<string, Header>;
    answers: Record<number, Answer>;
    /** The errors beside those that follow from `auth`, `params`, `query` and a body, or what those say here. */
    errors?: Partial<Record<ErrorCode, string>>;
    example?: { query?: Record<string, string>; body?: unknown };
  };
};
