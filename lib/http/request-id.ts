import { validate } from "uuid";

/**
 * Set by our listener (lib/server/listener.ts) on every request, whatever the client sent under this name. Where that is not in
 * front, the middleware sets it for pages.
 */
export const requestIdHeader = "x-spoor-request-id";

/** The id that names a request in its response and in the log. */
export function getRequestId({ headers }: { headers: Pick<Headers, "get"> }): string {
  const given = headers.get(requestIdHeader) ?? "";
  return validate(given) ? given : crypto.randomUUID();
}
