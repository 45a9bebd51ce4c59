import { z } from "zod";
import { usualWireBytes } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import { ingestRequest, ingestResponse, ingestTrace, jobResponse } from "#lib/ingest/schema";

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
  traces: { received: 1, created: 1, updated: 0, unchanged: 0, kept: 0, incomplete: 0 },
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

const sentHeaders = {
  "Content-Encoding": { text: "`gzip`, `br` or `zstd`; at most one.", example: "gzip" },
  "Idempotency-Key": {
    text: `1 to ${limits.ingest.idempotencyKeyCharacters} printable ASCII characters. A repeated request with the same key gets the job of the first, whatever its compression; the same key with other bytes is refused. Valid for ${limits.ingest.idempotencyKeyDays} days.`,
    example: "2026-11-20/1",
  },
};

const accepted = {
  text: "The upload and its job are on disk.",
  headers: { Location: { text: "The job's path.", example: `/api/ingest/${jobId}` } },
  example: { ok: true, jobId, status: "queued" },
};

const refusals = {
  invalid_request: {
    when: "A field is not valid (`errors` contains its path), or the body ended early or contradicts its headers.",
    detail: "The batch is not valid; see errors.",
    errors: [{ path: "traces", message: "is missing; it must be a list" }],
  },
  payload_too_large: {
    when: "The body is too large, compressed or decoded, or its traces exceed your quota (`userQuotaBytes` of `/api/limits`); `detail` contains the figures. Smaller batches only help with the first.",
    detail: `The body is over the limit of ${usualWireBytes} bytes.`,
  },
  unsupported_encoding: {
    when: "The Content-Encoding is not supported, or there are several.",
    detail: "Content-Encoding must be gzip, br, zstd or absent.",
  },
  idempotency_key_reused: "The Idempotency-Key was already used with other bytes.",
  overloaded: {
    when: "Too many bytes are being received, or too many of your uploads are queued. The body was not read, or the upload was the slowest one and was ended.",
    detail: "Too many of your uploads are queued. Nothing was read; try again.",
  },
};

export const sendBatch = {
  methods: ["POST"],
  path: "/api/ingest",
  auth: "bearer",
  scope: "ingest",
  response: ingestResponse,
  about: {
    group: "Ingest",
    summary: "Send a batch",
    text: `A 202 means that the upload and its job are on disk; any other status means that nothing was stored. A batch is accepted completely or not at all. \`source\` and \`sourceId\` identify a trace. When it has grown, send all of it again (only new and changed messages are written), or send only the new messages with \`append\`. Unknown fields are kept in the \`metadata\` of their trace or message. The body may be compressed; it may have \`ingest.wireBytes\` of \`/api/limits\` as sent, by default ${usualWireBytes / 2 ** 20} MiB.`,
    // lib/ingest/schema.ts parses each trace by itself.
    sent: ingestRequest.extend({ traces: z.array(ingestTrace).max(limits.ingest.traces) }),
    headers: sentHeaders,
    answers: { 202: accepted },
    errors: {
      ...refusals,
    },
    example: { body: batch },
  },
} satisfies Operation;

export const readJob = {
  methods: ["GET"],
  path: "/api/ingest/{jobId}",
  auth: "cookie-or-bearer",
  scope: "ingest",
  params,
  response: jobResponse,
  about: {
    group: "Ingest",
    summary: "Get a job",
    text: "`succeeded` and `failed` are final. `kept` counts traces that were not changed although the upload differs, because it has fewer messages and no `replace`, a newer upload was processed first, or the owner deleted the trace; the list `kept` names them with the reason. `incomplete` lists traces that could not be appended to, because the stored number of messages is not the one in `append`: send these whole.",
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
    summary: "Download an upload",
    text: "The upload's traces as accepted: masked, and without repeated fields. Available while the upload is stored. For its owner's browser only, without tokens. It counts as one of the user's exports, of which two run at a time.",
    answers: {
      200: {
        text: "A batch.",
        headers: {
          "Content-Disposition": {
            text: "A file name.",
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

export const uploadFile = {
  methods: ["POST"],
  path: "/api/uploads",
  auth: "cookie",
  response: ingestResponse,
  about: {
    group: "Ingest",
    summary: "Upload a batch from a browser",
    text: `Like \`POST /api/ingest\`, for this server's own pages. A form (the field \`file\`, of at most ${limits.ingest.maxFormBytes / 2 ** 20} MiB with all of the form) is answered with a redirect.`,
    sent: ingestRequest.extend({ traces: z.array(ingestTrace).max(limits.ingest.traces) }),
    form: z.object({ file: z.file() }),
    headers: sentHeaders,
    answers: {
      202: accepted,
      303: {
        text: "For a form: to the job's page, or back to the form with the problem.",
        headers: { Location: { text: "The page.", example: `/uploads/${jobId}` } },
      },
    },
    errors: { ...refusals, access_denied: "The request did not come from this server's own pages." },
    example: { body: batch },
  },
} satisfies Operation;
