/** Set by the middleware on the requests that it matches, which answers them with the same id; by nobody else (lib/web.ts). */
export const requestIdHeader = "x-spoor-request-id";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id by which a request is named in its answer and in the log: the middleware's, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(requestIdHeader) ?? "";
  return uuid.test(given) ? given : crypto.randomUUID();
}
