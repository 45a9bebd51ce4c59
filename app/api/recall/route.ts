import { endpoint, route } from "#lib/api/route";
import { recallPlaces } from "#lib/mcp/api";
import { recall } from "#lib/mcp/tools/fix";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(recallPlaces, ({ caller, query }) => recall(caller.userId, query)),
});
