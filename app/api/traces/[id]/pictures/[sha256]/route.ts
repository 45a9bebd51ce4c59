import { endpoint, route } from "#lib/api/route";
import { readTracePicture } from "#lib/traces/api";
import { getPicture } from "#lib/traces/pictures";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readTracePicture, ({ caller, params }) => getPicture(caller.userId, params.id, params.sha256)),
});
