import { z } from "zod";
import { filesQuery, filesResponse, traceFilesQuery, traceFilesResponse } from "#lib/files/schema";
import type { Operation } from "#lib/http/operation";

const file = {
  path: "src/retry.ts",
  reads: 2,
  edits: 1,
  added: 4,
  removed: 3,
  firstPosition: 3,
  lastPosition: 17,
};

export const readTraceFileList = {
  methods: ["GET"],
  path: "/api/traces/{id}/files",
  auth: "cookie-or-bearer",
  scope: "read",
  params: z.object({ id: z.uuid() }),
  query: traceFilesQuery,
  response: traceFilesResponse,
  about: {
    group: "Traces",
    summary: "List a trace's files",
    text: "Files that its tool calls read or changed, changed ones first. Paths below the session's folder are relative to it. `edits` counts calls that edited, wrote or deleted the file, `added` and `removed` the changed lines. Failed and declined calls don't count; calls copied from another session do. `pending` is true while the last upload is not counted, `cut` if only the first 50,000 calls count.",
    answers: {
      200: {
        text: "A page of files.",
        example: { ok: true, files: [file], pending: false, cut: false, nextCursor: null },
      },
    },
    errors: { invalid_request: "A parameter is not valid, or the cursor is unknown." },
    example: { query: { action: "changed" } },
    wrong: { query: { action: "moved" } },
  },
} satisfies Operation;

export const readFileList = {
  methods: ["GET"],
  path: "/api/files",
  auth: "cookie-or-bearer",
  scope: "read",
  query: filesQuery,
  response: filesResponse,
  about: {
    group: "Traces",
    summary: "List the traces that touched a file",
    text: "`path` is the end of the file's path, in whole parts: `retry.ts` also finds `src/retry.ts`. Case is ignored. Newest activity first, one item per trace and path. `action` selects changes or reads; `from` and `to` limit the last activity. `firstPosition` and `lastPosition` are the first and last message that touched the file. Edits copied by forked or resumed sessions count in one of them. Uploads of the last seconds may not be counted yet.",
    answers: {
      200: {
        text: "A page of traces.",
        example: {
          ok: true,
          files: [
            {
              traceId: "019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b",
              source: "claude-code",
              title: "Fix the flaky test",
              project: "api",
              updatedAt: "2026-11-20T10:00:00.000Z",
              dated: true,
              ...file,
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
    example: { query: { path: "src/retry.ts", action: "changed" } },
    wrong: { query: { path: "" } },
  },
} satisfies Operation;
