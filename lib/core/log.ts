import pino from "pino";
import { logLevel } from "#lib/core/env";

/** These fields contain names and codes, never values. */
const keptFields = ["code", "severity", "schema", "table", "column", "constraint", "routine", "syscall", "statusCode"];
const maxErrors = 5;

type LoggedError = {
  type: string;
  message: string;
  stack: string[];
  cause?: LoggedError;
  errors?: LoggedError[];
  [field: string]: unknown;
};

/**
 * PostgreSQL quotes values in `detail`, `where` and data exceptions, and Prisma quotes the call and its arguments.
 * @param depth maximum number of nested causes
 */
export function describeError(error: unknown, depth = 3): LoggedError | { type: string } {
  if (!(error instanceof Error)) return { type: error === null ? "null" : typeof error };
  const { name, message, stack = "", cause, ...fields } = error as Error & { stack?: string } & Record<string, unknown>;
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const follow = (one: unknown) => describeError(one, depth - 1) as LoggedError;
  return {
    type: name,
    message: withoutValues(message, `${name} ${fields.code}`),
    stack: frames.map((line) => line.trim()),
    ...Object.fromEntries(keptFields.filter((field) => isPlain(fields[field])).map((field) => [field, fields[field]])),
    ...(cause instanceof Error && depth > 0 && { cause: follow(cause) }),
    ...(error instanceof AggregateError && depth > 0 && { errors: error.errors.slice(0, maxErrors).map(follow) }),
  };
}

const isPlain = (value: unknown) => typeof value === "string" || typeof value === "number";

/** PostgreSQL's class 22 (data exceptions), also as Prisma reports it. */
const quotesValues = /^PrismaClient|\s(?:22\w{3}|P20\d\d)$/;

function withoutValues(message: string, kind: string): string {
  if (kind.startsWith("SyntaxError ")) return withoutQuotations(message); // JSON.parse quotes its input
  if (!quotesValues.test(kind)) return message;
  // Prisma's messages begin with the call and end with the reason.
  const [last = ""] = message.trim().split("\n").slice(-1);
  return withoutQuotations(last);
}

/** Removes everything between the first and the last quotation mark, since a quoted text may contain quotation marks. */
export const withoutQuotations = (text: string): string => text.replace(/".*"|"[^"]*$/s, '"…"');

/** Writes JSON lines to stdout. No body, code or token is ever passed to it. */
export const log = pino({
  level: logLevel(),
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: describeError },
});
