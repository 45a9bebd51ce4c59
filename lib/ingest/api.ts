// The routes of uploads and their jobs, as lib/http/operation.ts describes a route.
import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { ingestRequest, ingestResponse, ingestTrace, jobResponse } from "#lib/ingest/schema";
import { limits } from "#lib/limits";

const jobId = "019a9c3e-5b7c-7d21-9d2e-3f8a6b1c0d4e";
const params = z.object({ jobId: z.uuid() });

const job = {
  ok: true,
  jobId,
  status: "succeeded",
  attempts: 1,
  createdAt: "2026-11-20T10:05:12.101Z",
  startedAt: "2026-11-20T10:05:12.113Z",
  finishedAt: "2026-11-20T10:05:12.127Z",
  bytes: 397,
  traces: { received: 1, created: 1, updated: 0, unchanged: 0, kept: 0 },
  messages: { received: 2, written: 2 },
  error: null,
};

const batch = {
  traces: [
    {
      source: "claude-code",
      sourceId: "6f1c2b9e",
      title: "Fix the flaky test",
      project: "api",
      model: "claude-opus-4-5",
      createdAt: "2026-11-20T10:00:00Z",
      messages: [
        { position: 0, role: "user", content: "The retry test fails now and then.", createdAt: "2026-11-20T10:00:00Z" },
        { position: 1, role: "assistant", content: "I'll look at its timers.", tokenCount: 7 },
      ],
    },
  ],
};

export const sendBatch = {
  methods: ["POST"],
  path: "/api/ingest",
  auth: "bearer",
  response: ingestResponse,
  about: {
    group: "Ingest",
    summary: "Send a batch of conversations",
    text: `A 202 means that the upload and its job are on disk; anything else stored nothing. A batch is taken whole or not at all. \`source\` and \`sourceId\` are a conversation's identity: send all of it again when it has grown, and only what is new is written. Fields that are not named here are kept in the \`metadata\` of their trace or message. The body may be compressed; it has at most ${limits.ingest.wireBytes / 2 ** 20} MiB on the wire.`,
    // Its traces are parsed one by one (lib/ingest/schema.ts).
    sent: ingestRequest.extend({ traces: z.array(ingestTrace).max(limits.ingest.traces) }),
    headers: {
      "Content-Encoding": { text: "`gzip`, `br` or `zstd`; one of them, or none.", example: "gzip" },
      "Idempotency-Key": {
        text: `1 to 255 printable ASCII characters. A request that is sent again under its key gets the job of the first, however it is compressed; other bytes under it are refused. Kept for ${limits.ingest.idempotencyKeyDays} days.`,
        example: "2026-11-20/1",
      },
    },
    answers: {
      202: {
        text: "The upload and its job are on disk.",
        headers: { Location: { text: "The job's path.", example: `/api/ingest/${jobId}` } },
        example: { ok: true, jobId, status: "queued" },
      },
    },
    errors: {
      invalid_request:
        "A field is wrong (`errors` has its path), or the body ended early or is not what its headers say.",
      unsupported_encoding: "The Content-Encoding is another one, or there are several.",
      idempotency_key_reused: "The Idempotency-Key came before with other bytes.",
      overloaded: "Too much is being received, or too many of your uploads wait. Nothing was read.",
    },
    example: { body: batch },
  },
} satisfies Operation;

export const readJob = {
  methods: ["GET"],
  path: "/api/ingest/{jobId}",
  auth: "cookie-or-bearer",
  params,
  response: jobResponse,
  about: {
    group: "Ingest",
    summary: "Ask for a job",
    text: "`queued` and `running` go on by themselves; `succeeded` and `failed` are the end. `kept` counts the traces that the upload did not change although it differs: fewer messages than stored and no `replace`, a newer upload was there first, or its owner deleted the conversation.",
    answers: { 200: { text: "The job.", example: job } },
  },
} satisfies Operation;

export const readRawUpload = {
  methods: ["GET"],
  path: "/api/ingest/{jobId}/raw",
  auth: "cookie",
  params,
  about: {
    group: "Ingest",
    summary: "Download an upload as it was sent",
    text: "For the browser of its owner, as long as the upload is kept. A token does not open it.",
    answers: {
      200: {
        text: "The decoded body of the upload.",
        headers: {
          "Content-Disposition": {
            text: "A file's name.",
            example: `attachment; filename="spoor-upload-${jobId}.json"`,
          },
        },
        type: "application/json",
        schema: z.unknown(),
        example: batch,
      },
    },
  },
} satisfies Operation;
