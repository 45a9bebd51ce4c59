import { endpoint, route } from "#lib/http/route";
import { readHealth } from "#lib/service-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readHealth, () => ({ ok: true as const })),
});
