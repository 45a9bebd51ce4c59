import { endpoint, route } from "#lib/http/route";
import { publicLimits } from "#lib/limits";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, () => ({ ok: true, ...publicLimits() })),
});
