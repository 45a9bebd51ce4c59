import type { Operation } from "#lib/http/operation";
import { namesQuery, namesResponse, suggestionsQuery, suggestionsResponse } from "#lib/search/schema";

/** `lib/traces/examples.ts` shows the same session. */
const session = {
  id: "019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b",
  title: "Fix the flaky test",
  source: "claude-code",
  project: "api",
  updatedAt: "2026-11-20T10:00:00.000Z",
};

export const readNames = {
  methods: ["GET"],
  path: "/api/names",
  auth: "cookie-or-bearer",
  scope: "read",
  query: namesQuery,
  response: namesResponse,
  about: {
    group: "Traces",
    summary: "Find sessions and projects by name",
    text: "For completion while typing: at most eight sessions, most recently active first, and five projects whose title or name contains every word of `q`, ignoring case. Without `q`, the latest sessions. Only considers the latest 5,000 sessions that no other session started; `GET /api/traces?q=` searches all sessions and their messages.",
    answers: {
      200: {
        text: "What was found.",
        example: {
          ok: true,
          sessions: [session],
          projects: [{ id: "019a9c40-1f2e-7c31-9a70-5b1c7e2d4f60", name: "api" }],
        },
      },
    },
    errors: { invalid_request: "`q` is longer than 200 characters." },
    partialExample: true,
    example: { query: { q: "fix" } },
    wrong: { query: { q: "x".repeat(201) } },
  },
} satisfies Operation;

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
    text: "At most 8 completions of a query's last term: words, files, projects, and filters with their values. `text` is the completed term, `q` the completed query.",
    answers: {
      200: {
        text: "The suggestions, most likely first.",
        example: { ok: true, suggestions: [{ kind: "word", text: "idempotency", q: "retry idempotency" }] },
      },
    },
    partialExample: true,
    example: { query: { q: "retry idempot" } },
    wrong: { query: { q: "" } },
  },
} satisfies Operation;
