// The operation of the Model Context Protocol (lib/http/operation.ts).
import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { limits } from "#lib/limits";

/** A message of JSON-RPC 2.0, whose contents the SDK checks; batches are no longer part of the protocol. */
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
  body: { schema: message, maxBytes: limits.mcp.bodyBytes },
  about: {
    group: "Agents",
    summary: "Call the Model Context Protocol",
    text: `The same as \`/mcp\`, which is what agents are given (docs/mcp.md). Streamable HTTP without sessions, of the revisions 2026-07-28, 2025-11-25 and 2025-06-18; each answer is one JSON object. Its tools read the token's own sessions and change nothing. An answer has at most ${limits.mcp.answerBytes / 1024} KiB of text; what is quoted of a session is masked and marked as untrusted. At most ${limits.mcp.callsPerMinutePerUser} calls a minute.`,
    answers: {
      200: {
        text: "The result, or an error of JSON-RPC.",
        schema: z.looseObject({ jsonrpc: z.literal("2.0") }),
        example: { jsonrpc: "2.0", id: 1, result: {} },
      },
      202: { text: "A notification was taken." },
    },
    errors: {
      access_denied: "The token lacks the scope `read`, or a page of another site called.",
      rate_limited: "Too many calls in a minute; wait for Retry-After.",
    },
    example: { body: { jsonrpc: "2.0", id: 1, method: "ping" } },
    wrong: { body: { jsonrpc: "1.0" } },
  },
} satisfies Operation;
