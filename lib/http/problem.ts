import { type ErrorCode, errorTable, isOutage, SpoorError } from "#lib/errors";
import { log } from "#lib/log";

/** How long a client is to wait before it tries again where nothing better is known, in seconds. */
const retryAfterSeconds = { rate_limited: 60, slow_down: 60, overloaded: 5, unavailable: 2 } as const;

/** What PostgreSQL calls the end of a statement that has no more time. */
const queryCanceled = "57014";

/** What the outside is told of an error. An unknown one is logged whole and told as `internal`, an outage as `unavailable`. */
export function toSpoorError(error: unknown, requestId: string): SpoorError {
  if (error instanceof SpoorError) return error;
  if (isOutage(error)) {
    log.warn({ err: error, requestId }, "the database is not reachable");
    return new SpoorError(
      "unavailable",
      "The server cannot reach its database right now. Nothing was stored; try again.",
    );
  }
  if ((error as { code?: unknown } | undefined)?.code === queryCanceled) {
    log.warn({ err: error, requestId }, "a statement took too long");
    return new SpoorError("overloaded", "The server took too long over this; try again later, or ask for less.");
  }
  log.error({ err: error, requestId }, "a request failed");
  return new SpoorError("internal", "Something went wrong on the server. Its log says what, under this request id.");
}

/** The answer for an error: `application/problem+json` (RFC 9457) with the interface's extensions and headers. */
export function problemResponse(
  error: SpoorError,
  requestId: string,
  extraHeaders: Record<string, string> = {},
): Response {
  const { status, title } = errorTable[error.code];
  const headers = new Headers({
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    "X-Request-Id": requestId,
    ...extraHeaders,
  });
  if (status === 401) headers.set("WWW-Authenticate", challenge(error.code));
  if (status === 429 || status === 503) {
    const known = retryAfterSeconds[error.code as keyof typeof retryAfterSeconds];
    headers.set("Retry-After", String(error.retryAfterSeconds ?? known));
  }
  const body = {
    ok: false,
    type: "about:blank",
    title,
    status,
    detail: error.message,
    error: error.code,
    ...(error.errors ? { errors: error.errors.slice(0, 20) } : {}),
    requestId,
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** RFC 6750, section 3: the error is named only where a token was presented. */
function challenge(code: ErrorCode): string {
  return code === "invalid_token" ? 'Bearer realm="spoor", error="invalid_token"' : 'Bearer realm="spoor"';
}
