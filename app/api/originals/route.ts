import { endpoint, route } from "#lib/api/route";
import { readOriginalList } from "#lib/originals/api";
import { listOriginals } from "#lib/originals/queries";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readOriginalList, ({ caller, query }) => listOriginals(caller.userId, query)),
});
