import { endpoint, route } from "#lib/api/route";
import { getPicture } from "#lib/traces/pictures";
import { readTracePicture } from "#lib/traces/pictures-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readTracePicture, ({ caller, params }) => getPicture(caller.userId, params.id, params.sha256)),
});
