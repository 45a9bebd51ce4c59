import { endpoint, noContent, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { markTrace, readTrace, removeTrace } from "#lib/traces/api";
import { deleteTrace } from "#lib/traces/deletion";
import { getWholeTrace } from "#lib/traces/evidence";
import { setMarks } from "#lib/traces/marks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readTrace, async ({ caller, params }) => ({
    ok: true as const,
    trace: await getWholeTrace(caller.userId, params.id),
  })),
  PATCH: endpoint(markTrace, async ({ caller, params, body }) => {
    await setMarks(caller.userId, params.id, body);
    return noContent();
  }),
  DELETE: endpoint(removeTrace, async ({ caller, params, request }) => {
    await deleteTrace(caller.userId, params.id, readOrigin(request.headers));
    return noContent();
  }),
});
