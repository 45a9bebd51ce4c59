import { endpoint, route } from "#lib/api/route";
import { notFound } from "#lib/core/errors";
import { answerKept } from "#lib/http/kept";
import { readClient } from "#server/build/client-file";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, async ({ request }) => {
    const client = await readClient();
    if (!client) throw notFound();
    return answerKept(request, client.kept, {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
    });
  }),
});
