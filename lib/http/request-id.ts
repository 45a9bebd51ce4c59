import { validate } from "uuid";

/**
 * Set by the middleware on the requests that it matches, which answers them with the same id. Our web server takes away what a
 * client sent under this name (lib/server/web.ts); on another host, a client of the API may choose the UUID that names its request.
 */
export const requestIdHeader = "x-spoor-request-id";

/** The id by which a request is named in its answer and in the log: the middleware's, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(requestIdHeader) ?? "";
  return validate(given) ? given : crypto.randomUUID();
}
