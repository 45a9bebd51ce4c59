import { endpoint, route } from "#lib/api/route";
import { readMetrics } from "#lib/api/service";
import { env } from "#lib/env";
import { requireSecret } from "#lib/http/secret";
import { renderFigures } from "#lib/observability/figures";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readMetrics, async ({ request }) => {
    requireSecret(request, env().METRICS_TOKEN);
    return new Response(await renderFigures(), {
      headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  }),
});
