import { openApiDocument } from "#lib/api/openapi";
import { endpoint, route } from "#lib/api/route";
import { readDescription } from "#lib/api/service";
import { answerKept, type Kept, keep } from "#lib/http/kept";

let kept: Kept | undefined;

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readDescription, ({ request }) => {
    kept ??= keep(JSON.stringify(openApiDocument()));
    return answerKept(request, kept, { "Content-Type": "application/json" });
  }),
});
