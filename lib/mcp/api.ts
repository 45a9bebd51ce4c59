import { z } from "zod";
import { exactText } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";

/** The SDK checks the contents; the protocol no longer has batches. */
const message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  method: z.string().max(128).optional(),
  id: z.union([z.string().max(128), z.number()]).optional(),
});

export const callMcp = {
  methods: ["POST"],
  path: "/api/mcp",
  auth: "bearer",
  scope: "read",
  agents: true,
  body: { schema: message, maxBytes: limits.mcp.bodyBytes },
  about: {
    group: "Agents",
    summary: "Call the Model Context Protocol",
    text: `The same as \`/mcp\`, the address for agents (docs/mcp.md). Streamable HTTP without sessions, in the revisions 2026-07-28, 2025-11-25 and 2025-06-18; each answer is one JSON object. Its tools read the sessions of the token's user and change nothing. An answer has at most ${limits.mcp.answerBytes / 1024} KiB of text; quotations from sessions are masked and marked as untrusted. At most ${limits.mcp.callsPerMinutePerUser} calls per minute.`,
    answers: {
      200: {
        text: "The result, or a JSON-RPC error.",
        schema: z.looseObject({ jsonrpc: z.literal("2.0") }),
        example: { jsonrpc: "2.0", id: 1, result: {} },
      },
      202: { text: "A notification was accepted." },
    },
    errors: {
      access_denied: "The token lacks the scope `read`, or the call came from a page of another site.",
      rate_limited: "Too many calls in a minute; wait for Retry-After.",
    },
    example: { body: { jsonrpc: "2.0", id: 1, method: "ping" } },
    wrong: { body: { jsonrpc: "1.0" } },
  },
} satisfies Operation;

const place = z.object({
  session: z.uuid(),
  title: z.string().nullable(),
  source: z.string(),
  project: z.string().nullable(),
  position: z.int().nullable(),
  at: z.iso.datetime().nullable(),
  link: z.url(),
  excerpt: z.string(),
  said: z.string().nullable(),
});

export const recallPlaces = {
  methods: ["GET"],
  path: "/api/recall",
  auth: "cookie-or-bearer",
  scope: "read",
  query: z.object({ error: exactText(1, 4096), project: exactText(1, limits.trace.project).optional() }),
  response: z.object({ ok: z.literal(true), exact: z.boolean(), places: z.array(place).max(3) }),
  about: {
    group: "Agents",
    summary: "Find earlier occurrences of an error",
    text: "The three best earlier places of an error message, as found by the tool `find_past_fix`: those with its first line, or otherwise (`exact` is false) with its most specific words. `said` is the text at the end of the turn. Texts are masked and shortened.",
    answers: {
      200: {
        text: "The places.",
        example: {
          ok: true,
          exact: true,
          places: [
            {
              session: "5d0f5c0e-8a53-4b4e-9b0c-0a8b5c7f1e11",
              title: "Mend the timer",
              source: "claude-code",
              project: "api",
              position: 88,
              at: "2026-03-03T14:02:00.000Z",
              link: "https://spoor.example.org/traces/5d0f5c0e-8a53-4b4e-9b0c-0a8b5c7f1e11?at=88",
              excerpt: "TypeError: timer.unref is not a function",
              said: "Solved: the fake timer has no unref.",
            },
          ],
        },
      },
    },
    partialExample: true,
    errors: {
      overloaded: "The search took too long, or waited too long for your other searches; wait for Retry-After.",
    },
    example: { query: { error: "The retry test fails now and then." } },
    wrong: { query: { error: "" } },
  },
} satisfies Operation;
