import { endpoint, route } from "#lib/http/route";
import { openApiDocument } from "#lib/openapi";
import { readDescription } from "#lib/service-api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readDescription, () => ({ ...openApiDocument() })),
});
