import pino from "pino";
import { logLevel } from "#lib/env";

/** What is kept of an error beside its name, message and frames: names and codes, never values. */
const keptFields = ["code", "severity", "schema", "table", "column", "constraint", "routine", "syscall", "statusCode"];
const maxErrors = 5;

/** An error as it is logged. */
type LoggedError = {
  type: string;
  message: string;
  stack: string[];
  cause?: LoggedError;
  errors?: LoggedError[];
  [field: string]: unknown;
};

/**
 * An error without what may hold somebody's values: PostgreSQL quotes rows in `detail`, `where` and the messages of data
 * exceptions, Prisma the call and its arguments.
 *
 * @param depth how many causes are followed
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

/** PostgreSQL's class 22, also as Prisma reports it (P2010 for raw queries, and others of its data). */
const quotesValues = /^PrismaClient|\s(?:22\w{3}|P20\d\d)$/;

function withoutValues(message: string, kind: string): string {
  if (kind.startsWith("SyntaxError ")) return withoutQuotations(message); // of JSON.parse, which quotes what it was given
  if (!quotesValues.test(kind)) return message;
  // Prisma's messages begin with the call, over several lines, and end with what was wrong.
  const [last = ""] = message.trim().split("\n").slice(-1);
  return withoutQuotations(last);
}

/** A text without what stands between its first and its last quotation mark: what is quoted may have some, too. */
export const withoutQuotations = (text: string): string => text.replace(/".*"|"[^"]*$/s, '"…"');

/** The process's log: JSON lines on stdout. No body, code or token is ever passed to it. */
export const log = pino({
  level: logLevel(),
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
  serializers: { err: describeError },
});
