import { findingsQuery, findingsResponse } from "#lib/findings/schema";
import type { Operation } from "#lib/http/operation";

export const readFindingList = {
  methods: ["GET"],
  path: "/api/findings",
  auth: "cookie-or-bearer",
  scope: "read",
  query: findingsQuery,
  response: findingsResponse,
  about: {
    group: "Traces",
    summary: "List the secrets in traces",
    text: "Keys, tokens and passwords found in traces, newest first, one item per secret and trace, without values. Equal secrets have the same `mark`, which is also in the placeholder `[redacted:KIND:MARK]`. `state` is `masked`, `open` (stored unmasked), `masking` (will be masked soon) or `kept` (dismissed by its owner). `positions` are the first 20 messages with the secret; -1 is the trace's title and metadata. `certain` kinds are masked before they are stored unless the owner turned that off. `rotate` says where to revoke it. Uploads of the last seconds may not be searched yet.",
    answers: {
      200: {
        text: "A page of secrets.",
        example: {
          ok: true,
          findings: [
            {
              kind: "github",
              name: "GitHub token",
              certain: true,
              mark: "1f0c9a3e",
              state: "masked",
              traceId: "019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b",
              title: "Fix the flaky test",
              project: "api",
              projectId: "019a9c3e-5b8f-7a10-8c44-92d5e1f06a3c",
              positions: [3, 17],
              count: 2,
              at: "2026-11-20T10:00:00.000Z",
              dated: true,
              rotate: "github.com/settings/tokens",
            },
          ],
          nextCursor: null,
        },
      },
    },
    errors: {
      invalid_request: "A parameter is not valid, or the cursor is unknown.",
      overloaded: {
        when: "Your other searches, exports and counts are still running, or this one took too long.",
        detail: "Too many searches, exports and counts are running. Try again when yours are done.",
      },
    },
    partialExample: true,
    example: { query: { state: "open" } },
    wrong: { query: { mark: "1" } },
  },
} satisfies Operation;
