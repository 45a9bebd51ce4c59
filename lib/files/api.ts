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
    text: "The files that its tool calls read and changed, changed ones first. A path below the session's folder is relative to it. `edits` counts the calls that edited, wrote or deleted the file, `added` and `removed` the lines that they changed. Failed and declined calls do not count; calls that were copied from another session do. `pending` is true while the last upload is not counted yet, `cut` where the trace has more than 50,000 calls on files, of which the first count.",
    answers: {
      200: {
        text: "A page of files.",
        example: { ok: true, files: [file], pending: false, cut: false, nextCursor: null },
      },
    },
    errors: { invalid_request: "A parameter is not valid, or the cursor is not one that this server made." },
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
    text: "`path` is the end of the file's path, from a whole part of it on: `retry.ts` finds `src/retry.ts`, too. Upper and lower case are alike. Newest activity first, an item for each trace and path; `action` leaves those that changed the file, or those that read it; `from` and `to` are a span of the last activity. `firstPosition` and `lastPosition` are those of the messages that touched it. What several sessions have, because one was forked or resumed, is an item of one of them. What was uploaded in the last seconds may not be counted yet.",
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
      invalid_request: "A parameter is not valid, or the cursor is not one that this server made.",
      overloaded: {
        when: "Other searches, exports and counts of yours are running, or this one took too long.",
        detail: "Too many searches, exports and counts are running. Try again when yours have ended.",
      },
    },
    example: { query: { path: "src/retry.ts", action: "changed" } },
    wrong: { query: { path: "" } },
  },
} satisfies Operation;
