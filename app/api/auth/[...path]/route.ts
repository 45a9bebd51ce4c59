import { auth } from "#lib/auth/auth";
import { SpoorError } from "#lib/errors";
import { readBody } from "#lib/http/body";
import { problemResponse, toSpoorError } from "#lib/http/problem";
import { requestIdOf } from "#lib/http/request-id";
import { limits } from "#lib/limits";

/** U+0000 in JSON, which better-auth would hand to PostgreSQL, and PostgreSQL can't take. */
const escapedZero = /(?<!\\)(?:\\\\)*\\u0000/;

/** better-auth's own contracts, behind a size cap: on its own it would read a body of any size. HEAD is answered by Next from GET. */
async function handle(request: Request): Promise<Response> {
  try {
    const body = request.body ? await readBody(request, limits.maxAuthBodyBytes) : undefined;
    if (body && escapedZero.test(body.toString("latin1"))) {
      throw new SpoorError("invalid_request", "The body must not contain U+0000.");
    }
    const { method, headers, url } = request;
    return await auth().handler(new Request(url, { method, headers, ...(body ? { body } : {}) }));
  } catch (error) {
    const requestId = requestIdOf(request);
    return problemResponse(toSpoorError(error, requestId), requestId);
  }
}

export { handle as GET, handle as POST };
