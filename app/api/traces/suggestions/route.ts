import { endpoint, route } from "#lib/api/route";
import { readSuggestions } from "#lib/search/api";
import { suggest } from "#lib/search/suggest";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readSuggestions, async ({ caller, query: { q } }) => ({
    ok: true as const,
    suggestions: await suggest(caller.userId, q),
  })),
});
