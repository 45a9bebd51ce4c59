import { declaredLength, readBody, requireJsonType } from "#lib/http/body";
import { endpoint, reply, route } from "#lib/http/route";
import { acceptBatch, encodingOf, idempotencyKeyOf } from "#lib/ingest/accept";
import { admitted } from "#lib/ingest/admission";
import { ingestResponse } from "#lib/ingest/schema";
import { limits } from "#lib/limits";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint({ auth: "bearer", response: ingestResponse }, async ({ request, caller }) => {
    requireJsonType(request);
    const encoding = encodingOf(request.headers.get("content-encoding"));
    const idempotencyKey = idempotencyKeyOf(request.headers.get("idempotency-key"));
    const { wireBytes } = limits.ingest;
    const bytes = declaredLength(request, wireBytes) ?? wireBytes;
    const sender = { userId: caller.userId, machine: caller.token.machine };
    const jobId = await admitted(caller.userId, bytes, async () =>
      acceptBatch(sender, await readBody(request, wireBytes), encoding, idempotencyKey),
    );
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});
