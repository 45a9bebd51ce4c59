import { endpoint, route } from "#lib/http/route";
import { publicLimits } from "#lib/limits";
import { readLimits } from "#lib/service-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readLimits, () => ({ ok: true as const, ...publicLimits() })),
});
