import { endpoint, reply, route } from "#lib/api/route";
import { receivePicture } from "#lib/ingest/pictures/accept";
import { sendPicture } from "#lib/ingest/pictures/api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  PUT: endpoint(sendPicture, async ({ request, caller, params }) => {
    const isNew = await receivePicture(request, caller.userId, params.sha256);
    return reply({ ok: true as const }, isNew ? 201 : 200);
  }),
});
