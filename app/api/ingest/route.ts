import { endpoint, reply, route } from "#lib/api/route";
import { receiveBatch } from "#lib/ingest/accept/request";
import { sendBatch } from "#lib/ingest/api";
import { processSoon } from "#server/background/after-response";

/** In seconds, for hosts that bound a call: what is processed after the response counts. */
export const maxDuration = 60;

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(sendBatch, async ({ request, caller }) => {
    const jobId = await receiveBatch(request, { userId: caller.userId, machine: caller.token.machine });
    processSoon();
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});
