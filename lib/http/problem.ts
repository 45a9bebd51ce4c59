import { errorTable, isOutage, isOverload, SpoorError } from "#lib/core/errors";
import { log } from "#lib/core/log";

const retryAfterSeconds = { rate_limited: 60, slow_down: 60, overloaded: 5, unavailable: 2 } as const;

/** Unknown errors and outages are logged with their cause. */
export function toSpoorError(error: unknown, requestId: string): SpoorError {
  if (error instanceof SpoorError) return error;
  // The client is gone and reads no answer.
  if ((error as Error | undefined)?.name === "AbortError") {
    return new SpoorError("overloaded", "The connection was closed before the query had ended.");
  }
  if (isOutage(error)) {
    log.warn({ err: error, requestId }, "the database is not reachable");
    return new SpoorError("unavailable");
  }
  if (isOverload(error)) {
    log.warn({ err: error, requestId }, "a statement timed out");
    return new SpoorError("overloaded");
  }
  log.error({ err: error, requestId }, "a request failed");
  return new SpoorError("internal");
}

/** RFC 9457. @param resourceMetadata where a client without a token learns who issues one */
export function problemResponse(
  error: SpoorError,
  requestId: string,
  extraHeaders: Record<string, string> = {},
  resourceMetadata?: string,
): Response {
  const { status, title } = errorTable[error.code];
  const headers = new Headers({
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    "X-Request-Id": requestId,
    ...extraHeaders,
  });
  const authenticate = challenge(error, resourceMetadata);
  if (authenticate) headers.set("WWW-Authenticate", authenticate);
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
    ...(error.missing ? { missing: error.missing } : {}),
    requestId,
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** RFC 6750, section 3; RFC 9728, section 5.1. */
function challenge({ code, insufficientScope }: SpoorError, resourceMetadata?: string): string | undefined {
  const metadata = resourceMetadata === undefined ? "" : `, resource_metadata="${resourceMetadata}"`;
  if (insufficientScope) return 'Bearer realm="spoor", error="insufficient_scope"';
  if (code === "invalid_token") return `Bearer realm="spoor", error="invalid_token"${metadata}`;
  return errorTable[code].status === 401 ? `Bearer realm="spoor"${metadata}` : undefined;
}
