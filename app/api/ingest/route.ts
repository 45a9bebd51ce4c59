import { receiveBatch } from "#lib/http/receive";
import { endpoint, reply, route } from "#lib/http/route";
import { ingestResponse } from "#lib/ingest/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint({ auth: "bearer", response: ingestResponse }, async ({ request, caller }) => {
    const jobId = await receiveBatch(request, { userId: caller.userId, machine: caller.token.machine });
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});
