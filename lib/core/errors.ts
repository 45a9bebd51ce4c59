export const errorTable = {
  invalid_json: { status: 400, title: "Bad Request", detail: "The body is not valid JSON in UTF-8." },
  invalid_request: { status: 400, title: "Bad Request", detail: "The request is not valid; see errors." },
  invalid_grant: { status: 400, title: "Bad Request", detail: "Unknown device code. Start the login again." },
  missing_token: { status: 401, title: "Unauthorized", detail: "Send a token: Authorization: Bearer <token>." },
  invalid_token: { status: 401, title: "Unauthorized", detail: "The token is not valid. Log in again." },
  access_denied: { status: 403, title: "Forbidden", detail: "The request did not come from this server's own pages." },
  not_found: { status: 404, title: "Not Found", detail: "Not found." },
  method_not_allowed: { status: 405, title: "Method Not Allowed", detail: "No path supports this method." },
  request_timeout: { status: 408, title: "Request Timeout", detail: "The body arrived too slowly." },
  already_consumed: { status: 409, title: "Conflict", detail: "This device code was already used." },
  parts_missing: {
    status: 409,
    title: "Conflict",
    detail: "Parts of this copy are not stored. Send those in missing, then the copy again.",
  },
  expired_token: { status: 410, title: "Gone", detail: "The login expired. Start it again." },
  session_deleted: {
    status: 410,
    title: "Gone",
    detail: "This session was deleted here. Its copy is not taken again.",
  },
  precondition_failed: {
    status: 412,
    title: "Precondition Failed",
    detail: "It has changed since you read it. Nothing was stored; read it again.",
  },
  payload_too_large: { status: 413, title: "Content Too Large", detail: "The body is too large." },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported Media Type",
    detail: "The body must have the Content-Type application/json.",
  },
  unsupported_encoding: {
    status: 415,
    title: "Unsupported Media Type",
    detail: "This route does not support Content-Encoding.",
  },
  idempotency_key_reused: {
    status: 422,
    title: "Unprocessable Content",
    detail: "This Idempotency-Key was already used with other bytes. Use a new one.",
  },
  invalid_part: {
    status: 422,
    title: "Unprocessable Content",
    detail: "The body's SHA-256 differs from the path's.",
  },
  precondition_required: {
    status: 428,
    title: "Precondition Required",
    detail: "Send If-None-Match: * to store the first, or If-Match with the one that you replace.",
  },
  slow_down: { status: 429, title: "Too Many Requests", detail: "Too many polls; wait for Retry-After." },
  rate_limited: { status: 429, title: "Too Many Requests", detail: "Too many requests; wait for Retry-After." },
  internal: {
    status: 500,
    title: "Internal Server Error",
    detail: "Internal server error. The server's log contains the cause under this request id.",
  },
  overloaded: {
    status: 503,
    title: "Service Unavailable",
    detail: "The query took too long. Try again later, or narrow it.",
  },
  unavailable: {
    status: 503,
    title: "Service Unavailable",
    detail: "The database is unavailable. Nothing was stored; try again.",
  },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** `path` is like `traces.0.messages.3.position`. */
export type FieldError = { path: string; message: string };

/** Only this error's message reaches a client; every other error becomes `internal`. */
export class SpoorError extends Error {
  override name = "SpoorError";
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** RFC 6750, section 3.1. */
  readonly insufficientScope: boolean;
  /** Hashes of parts, for `parts_missing`. */
  readonly missing: string[] | undefined;

  constructor(
    code: ErrorCode,
    detail: string = errorTable[code].detail,
    more: {
      errors?: FieldError[] | undefined;
      retryAfterSeconds?: number;
      insufficientScope?: boolean;
      missing?: string[];
    } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.insufficientScope = more.insufficientScope ?? false;
    this.missing = more.missing;
  }
}

/** The operator sees the message without a stack. */
export class EnvError extends Error {
  override name = "EnvError";
}

export class UsageError extends EnvError {
  override name = "UsageError";
}

export class StoreOutageError extends SpoorError {
  override name = "StoreOutageError";

  constructor() {
    super("unavailable", "The upload store is unavailable. Nothing was stored; try again.");
  }
}

/** Clients must not be able to distinguish a missing object from another user's. */
export const notFound = () => new SpoorError("not_found");

export const insufficientScope = (needed: string) =>
  new SpoorError(
    "access_denied",
    `This token lacks the scope "${needed}". Log in again and grant it, or create a token with it on the page /devices.`,
    { insufficientScope: true },
  );

const outageCodes = new Set<string>([
  "unavailable" satisfies ErrorCode,
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  // PostgreSQL: shutting down, starting up, out of disk, memory or connections, connection failures.
  "57P01",
  "57P02",
  "57P03",
  "53000",
  "53100",
  "53200",
  "53300",
  "08000",
  "08001",
  "08003",
  "08004",
  "08006",
  // PostgreSQL: lock timeout, deadlock, serialization failure, transaction ended for being idle.
  "55P03",
  "40P01",
  "40001",
  "25P03",
  // Prisma: unreachable, timed out, closed, no connection from the pool, no transaction in time, deadlock.
  "P1001",
  "P1008",
  "P1017",
  "P2024",
  "P2028",
  "P2034",
]);

/** Prisma's adapter replaces the codes of socket errors with these names. */
const outageKinds = new Set(["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout"]);

/** `pg` throws these messages without a code. */
const outageMessages =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/i;
/** Returns true for errors that may be temporary: an unreachable, full or locked database or store. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StoreOutageError) return true;
  const codes = [(error as { code?: unknown }).code, postgresCode(error)];
  if (codes.some((code) => typeof code === "string" && outageCodes.has(code)) || isNoSocket(error)) return true;
  if (outageKinds.has(driverError(error)?.kind ?? "")) return true;
  if (isPoolersRefusal(error) || outageMessages.test(error.message)) return true;
  return error.cause !== error && isOutage(error.cause);
}

/** A Unix socket is missing while the server is down, and refuses connections while its queue is full. */
const isNoSocket = (error: Error & { code?: unknown; syscall?: unknown }): boolean =>
  error.syscall === "connect" && (error.code === "ENOENT" || error.code === "EAGAIN");

/** PgBouncer reports a client that it can't serve as a fatal protocol violation; PostgreSQL's own are not fatal. */
function isPoolersRefusal(error: Error): boolean {
  const { code, severity } = driverError(error) ?? (error as Caused & { code?: unknown });
  return code === "08P01" && severity === "FATAL";
}

/** A missing table, column, function, type or schema: PostgreSQL's codes, then Prisma's. */
const schemaCodes = new Set(["42P01", "42703", "42883", "42704", "3F000", "P2021", "P2022"]);

export function isSchemaError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const codes = [(error as { code?: unknown }).code, postgresCode(error)];
  return codes.some((code) => schemaCodes.has(String(code))) || /^pg-boss (is not|database)/.test(error.message);
}

const queryCanceled = "57014";

/** Such a statement was cancelled by its timeout, or waited too long for its turn. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    (error as { code?: unknown }).code === ("overloaded" satisfies ErrorCode) || postgresCode(error) === queryCanceled
  );
}

export function postgresCode(error: unknown): string | undefined {
  return driverError(error)?.originalCode ?? (error as { code?: string }).code;
}

type Caused = { originalCode?: string; code?: string; severity?: string; kind?: string };

/** A commit throws the adapter's error, which Prisma did not wrap. */
function driverError(error: unknown): Caused | undefined {
  const { meta, name, cause } = error as { meta?: { driverAdapterError?: { cause?: Caused } } } & Error;
  return meta?.driverAdapterError?.cause ?? (name === "DriverAdapterError" ? (cause as Caused) : undefined);
}
