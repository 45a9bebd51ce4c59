import { endpoint, route } from "#lib/api/route";
import { readLimits } from "#lib/api/service";
import { publicLimits } from "#lib/limits";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readLimits, () => ({ ok: true as const, ...publicLimits() })),
});
