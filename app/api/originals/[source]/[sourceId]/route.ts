import { endpoint, noContent, reply, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { receiveOriginal } from "#lib/ingest/originals/accept";
import { readOriginal, removeOriginal, sendOriginal } from "#lib/originals/api";
import { readCondition } from "#lib/originals/condition";
import { deleteOriginal } from "#lib/originals/deletion";
import { getOriginal } from "#lib/originals/queries";

const tag = (version: string) => ({ ETag: `"${version}"` });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readOriginal, async ({ caller, params }) => {
    const original = await getOriginal(caller.userId, params);
    return reply(original, 200, tag(original.version));
  }),
  PUT: endpoint(sendOriginal, async ({ request, caller, params }) => {
    const sender = { userId: caller.userId, machine: caller.token.machine };
    const { version, isNew } = await receiveOriginal(request, sender, params, readCondition(request.headers));
    return reply({ ok: true as const, version }, isNew ? 201 : 200, tag(version));
  }),
  DELETE: endpoint(removeOriginal, async ({ request, caller, params }) => {
    await deleteOriginal(caller.userId, params, readOrigin(request.headers));
    return noContent();
  }),
});
