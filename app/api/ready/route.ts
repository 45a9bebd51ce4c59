import { endpoint, reply, route } from "#lib/http/route";
import { checkReadiness } from "#lib/readiness";
import { readReadiness } from "#lib/service-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readReadiness, async () => {
    const readiness = await checkReadiness();
    return reply(readiness, readiness.ok ? 200 : 503, readiness.ok ? {} : { "Retry-After": "5" });
  }),
});
