import { endpoint, reply, route } from "#lib/http/route";
import { checkReadiness } from "#lib/readiness";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, async () => {
    const readiness = await checkReadiness();
    return reply(readiness, readiness.ok ? 200 : 503, readiness.ok ? {} : { "Retry-After": "5" });
  }),
});
