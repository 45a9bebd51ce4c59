import { openApiDocument } from "#lib/api/openapi";
import { endpoint, route } from "#lib/api/route";
import { readDescription } from "#lib/api/service";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readDescription, () => ({ ...openApiDocument() })),
});
