import { endpoint, route } from "#lib/api/route";
import { readLimits } from "#lib/api/service";
import { publicLimits } from "#lib/core/limits";
import { describeClient } from "#server/build/client-file";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readLimits, async () => ({ ok: true as const, ...publicLimits(), client: await describeClient() })),
});
