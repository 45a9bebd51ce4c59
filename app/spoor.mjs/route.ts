import { endpoint, route } from "#lib/api/route";
import { notFound } from "#lib/errors";
import { readClient } from "#lib/server/client-file";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, async ({ request, requestId }) => {
    const client = await readClient();
    if (!client) throw notFound();
    const headers = {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "no-cache",
      ETag: client.etag,
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    };
    const isKnown = request.headers.get("if-none-match")?.includes(client.etag);
    return new Response(isKnown ? null : client.text, { status: isKnown ? 304 : 200, headers });
  }),
});
