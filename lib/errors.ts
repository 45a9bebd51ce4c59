/** Every error code of the interface with its HTTP status and title. */
export const errorTable = {
  invalid_json: { status: 400, title: "Bad Request" },
  invalid_request: { status: 400, title: "Bad Request" },
  invalid_grant: { status: 400, title: "Bad Request" },
  missing_token: { status: 401, title: "Unauthorized" },
  invalid_token: { status: 401, title: "Unauthorized" },
  access_denied: { status: 403, title: "Forbidden" },
  not_found: { status: 404, title: "Not Found" },
  method_not_allowed: { status: 405, title: "Method Not Allowed" },
  request_timeout: { status: 408, title: "Request Timeout" },
  already_consumed: { status: 409, title: "Conflict" },
  expired_token: { status: 410, title: "Gone" },
  payload_too_large: { status: 413, title: "Content Too Large" },
  unsupported_media_type: { status: 415, title: "Unsupported Media Type" },
  unsupported_encoding: { status: 415, title: "Unsupported Media Type" },
  idempotency_key_reused: { status: 422, title: "Unprocessable Content" },
  slow_down: { status: 429, title: "Too Many Requests" },
  rate_limited: { status: 429, title: "Too Many Requests" },
  internal: { status: 500, title: "Internal Server Error" },
  overloaded: { status: 503, title: "Service Unavailable" },
  unavailable: { status: 503, title: "Service Unavailable" },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** One field that did not validate: where it stands (`traces.0.messages.3.position`) and what is wrong with it. */
export type FieldError = { path: string; message: string };

/** The one error that the outside is told about. Everything else becomes `internal`, and only the log knows why. */
export class SpoorError extends Error {
  override name = "SpoorError";
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    more: { errors?: FieldError[] | undefined; retryAfterSeconds?: number } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** A missing object and somebody else's object are told apart nowhere. */
export const notFound = () => new SpoorError("not_found", "There is nothing here.");

/** PostgreSQL's and the socket's ways to say that the database is not there right now. */
const outageCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
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
  // A lock that was not to be had in time, a deadlock, an ended transaction: all pass by themselves.
  "55P03",
  "40P01",
  "40001",
  "25P03",
]); // prettier-ignore

/** Whether an error says that the database cannot be reached or cannot take more, so that trying again later helps. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause, originalCode } = error as { code?: unknown; cause?: unknown; originalCode?: unknown };
  if (
    typeof code === "string" &&
    (outageCodes.has(code) || code === "P1001" || code === "P1008" || code === "P1017" || code === "P2024")
  )
    return true;
  if (typeof originalCode === "string" && outageCodes.has(originalCode)) return true;
  if (
    /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/i.test(
      error.message,
    )
  )
    return true;
  return cause !== undefined && cause !== error && isOutage(cause);
}
