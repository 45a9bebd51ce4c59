import { env } from "#lib/env";
import { renderFigures } from "#lib/figures";
import { endpoint, route } from "#lib/http/route";
import { requireSecret } from "#lib/http/secret";
import { readMetrics } from "#lib/service-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readMetrics, async ({ request }) => {
    requireSecret(request, env().METRICS_TOKEN);
    return new Response(await renderFigures(), {
      headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  }),
});
