import type { Operation } from "#lib/http/operation";
import { suggestionsQuery, suggestionsResponse } from "#lib/traces/schema";

export const readSuggestions = {
  methods: ["GET"],
  path: "/api/traces/suggestions",
  auth: "cookie-or-bearer",
  scope: "read",
  query: suggestionsQuery,
  response: suggestionsResponse,
  about: {
    group: "Traces",
    summary: "List suggestions for a search",
    text: "At most 8 for the last term of a query that is being typed: words that traces have, files, projects, and filters with their values. `text` is the term, `q` the whole query that it makes.",
    answers: {
      200: {
        text: "The suggestions, the likeliest first.",
        example: { ok: true, suggestions: [{ kind: "word", text: "idempotency", q: "retry idempotency" }] },
      },
    },
    partialExample: true,
    example: { query: { q: "retry idempot" } },
    wrong: { query: { q: "" } },
  },
} satisfies Operation;
