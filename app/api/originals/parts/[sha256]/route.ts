import { endpoint, reply, route } from "#lib/api/route";
import { receivePart } from "#lib/ingest/originals/accept";
import { readPart, sendPart } from "#lib/originals/api";
import { getPart } from "#lib/originals/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readPart, ({ caller, params }) => getPart(caller.userId, params.sha256)),
  PUT: endpoint(sendPart, async ({ request, caller, params }) => {
    const isNew = await receivePart(request, caller.userId, params.sha256);
    return reply({ ok: true as const }, isNew ? 201 : 200);
  }),
});
