import { endpoint, route } from "#lib/api/route";
import { notFound } from "#lib/errors";
import { readClient } from "#lib/server/client-file";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, async ({ request }) => {
    const client = await readClient();
    if (!client) throw notFound();
    const headers = {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "no-cache",
      ETag: client.etag,
      "X-Content-Type-Options": "nosniff",
    };
    const isKnown = matches(request.headers.get("if-none-match"), client.etag);
    return new Response(isKnown ? null : client.text, { status: isKnown ? 304 : 200, headers });
  }),
});

/** Whether If-None-Match names the entity tag, compared weakly (RFC 9110, section 13.1.2): a proxy that compresses weakens it. */
function matches(header: string | null, etag: string): boolean {
  const given = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return given.includes(etag) || given.includes("*");
}
