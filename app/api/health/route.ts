import { endpoint, route } from "#lib/api/route";
import { readHealth } from "#lib/api/service";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readHealth, () => ({ ok: true as const })),
});
