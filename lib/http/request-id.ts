import { validate } from "uuid";

/**
 * Our listener sets it on every request, otherwise the middleware on pages, whatever the client sent under this name.
 */
export const requestIdHeader = "x-spoor-request-id";

export function getRequestId({ headers }: { headers: Pick<Headers, "get"> }): string {
  const given = headers.get(requestIdHeader) ?? "";
  return validate(given) ? given : crypto.randomUUID();
}
