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
    text: "Keys, tokens and passwords that were found in traces, newest first, an item for each secret of each trace; never their values. `mark` is the same for the same secret, and stands in the text that takes its place: `[redacted:KIND:MARK]`. `state` is `masked`; `open` where it is stored as it came; `masking` where it will be masked soon; `kept` where its owner said that it is none. `positions` are those of its messages, the first 20; -1 is the trace's title and metadata. `certain` kinds are masked before they are stored unless their owner turned that off. `rotate` says where one revokes it. What was uploaded in the last seconds may not be looked through yet.",
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
      invalid_request: "A parameter is not valid, or the cursor is not one that this server made.",
      overloaded: {
        when: "Other searches, exports and counts of yours are running, or this one took too long.",
        detail: "Too many searches, exports and counts are running. Try again when yours have ended.",
      },
    },
    partialExample: true,
    example: { query: { state: "open" } },
    wrong: { query: { mark: "1" } },
  },
} satisfies Operation;
