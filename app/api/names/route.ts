import { endpoint, route } from "#lib/api/route";
import { findProjects } from "#lib/projects/queries";
import { readNames } from "#lib/search/api";
import { findByTitle, splitWords } from "#lib/search/suggest";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readNames, async ({ caller: { userId }, query }) => {
    const words = splitWords(query.q ?? "");
    const [sessions, projects] = await Promise.all([findByTitle(userId, words), findProjects(userId, words)]);
    return { ok: true as const, sessions, projects };
  }),
});
