import { validate } from "uuid";

/** Our listener, or the middleware, sets it, whatever the client sent. */
export const requestIdHeader = "x-spoor-request-id";

export function getRequestId({ headers }: { headers: Pick<Headers, "get"> }): string {
  const given = headers.get(requestIdHeader) ?? "";
  return validate(given) ? given : crypto.randomUUID();
}
