import { endpoint, reply, route } from "#lib/api/route";
import { receiveBatch } from "#lib/ingest/accept/request";
import { sendBatch } from "#lib/ingest/api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(sendBatch, async ({ request, caller }) => {
    const jobId = await receiveBatch(request, { userId: caller.userId, machine: caller.token.machine });
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});
