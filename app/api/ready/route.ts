import { endpoint, reply, route } from "#lib/api/route";
import { readReadiness } from "#lib/api/service";
import { checkReadiness } from "#lib/observability/readiness";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readReadiness, async () => {
    const readiness = await checkReadiness();
    return reply(readiness, readiness.ok ? 200 : 503, readiness.ok ? {} : { "Retry-After": "5" });
  }),
});
