import { endpoint, route } from "#lib/api/route";
import { getSharedPicture } from "#lib/traces/pictures";
import { readSharedPicture } from "#lib/traces/pictures-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readSharedPicture, ({ params, address }) => getSharedPicture(params.link, params.sha256, address)),
});
