import { endpoint, route } from "#lib/api/route";
import { readMetrics } from "#lib/api/service";
import { env } from "#lib/core/env";
import { requireSecret } from "#lib/http/secret";
import { renderMetrics } from "#lib/observability/prometheus";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readMetrics, async ({ request }) => {
    requireSecret(request, env().METRICS_TOKEN);
    return new Response(await renderMetrics(), {
      headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  }),
});
