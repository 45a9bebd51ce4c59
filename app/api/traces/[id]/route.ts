import { originOf } from "#lib/auth/audit";
import { endpoint, idParams, noContent, route } from "#lib/http/route";
import { deleteTrace } from "#lib/traces/deletion";
import { getTrace } from "#lib/traces/queries";
import { traceResponse } from "#lib/traces/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(
    { auth: "cookie-or-bearer", params: idParams, response: traceResponse },
    async ({ caller, params }) => ({ ok: true as const, trace: await getTrace(caller.userId, params.id) }),
  ),
  DELETE: endpoint({ auth: "cookie-or-bearer", params: idParams }, async ({ caller, params, request }) => {
    await deleteTrace(caller.userId, params.id, originOf(request.headers));
    return noContent();
  }),
});
