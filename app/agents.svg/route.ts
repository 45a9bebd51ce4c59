import { endpoint, route } from "#lib/api/route";
import { agentSheet } from "../components/agent-icons";

const headers = {
  "Content-Type": "image/svg+xml; charset=utf-8",
  // Lists show it at once from the cache, and a release's new icons from the next page on.
  "Cache-Control": "public, max-age=3600, stale-while-revalidate=2592000",
  "X-Content-Type-Options": "nosniff",
};

/** The agents' icons for lists, which would have them in each page twice: as HTML and for the script. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "none" }, async () => new Response(agentSheet(), { headers })),
});
