import { endpoint, route } from "#lib/api/route";
import { readSharedPicture } from "#lib/shares/api";
import { getSharedPicture } from "#lib/shares/shares";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readSharedPicture, ({ params, address }) => getSharedPicture(params.link, params.sha256, address)),
});
