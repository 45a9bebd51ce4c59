// The routes of the server itself, as lib/http/operation.ts describes a route.
import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { publicLimits } from "#lib/limits";

const check = z.object({ ok: z.boolean(), detail: z.string().optional() });

export const drainNow = {
  methods: ["POST", "GET"],
  path: "/api/cron",
  auth: "none",
  response: z.strictObject({ ok: z.literal(true), processed: z.int(), drained: z.boolean() }),
  about: {
    group: "The server",
    summary: "Do a worker's work for a while",
    text: "For hosts that run no worker. Processes what waits, for 45 seconds at most. `drained` is false where the time was over before the queue was empty. Not there unless the operator set `CRON_SECRET`.",
    secret: "CRON_SECRET",
    head: false,
    answers: { 200: { text: "What was done.", example: { ok: true, processed: 3, drained: true } } },
  },
} satisfies Operation;

export const readMetrics = {
  methods: ["GET"],
  path: "/api/metrics",
  auth: "none",
  about: {
    group: "The server",
    summary: "Figures for Prometheus",
    text: "docs/operations.md says what each of them means. Not there unless the operator set `METRICS_TOKEN`.",
    secret: "METRICS_TOKEN",
    answers: {
      200: {
        text: "Prometheus's text format.",
        type: "text/plain",
        schema: z.string(),
        example:
          "# HELP spoor_ingest_uploads_total Uploads that were accepted.\n# TYPE spoor_ingest_uploads_total counter\nspoor_ingest_uploads_total 42\n",
      },
    },
  },
} satisfies Operation;

export const readHealth = {
  methods: ["GET"],
  path: "/api/health",
  auth: "none",
  response: z.strictObject({ ok: z.literal(true) }),
  about: {
    group: "The server",
    summary: "Whether the process lives",
    text: "Asks nothing of the database.",
    answers: { 200: { text: "It does.", example: { ok: true } } },
  },
} satisfies Operation;

const well = { ok: true };

export const readReadiness = {
  methods: ["GET"],
  path: "/api/ready",
  auth: "none",
  response: z.object({
    ok: z.boolean(),
    checks: z.object({ database: check, migrations: check, worker: check }),
  }),
  about: {
    group: "The server",
    summary: "Whether the server can do its work",
    text: "Whether the database answers, is at this version, and a worker was seen in the last 60 seconds.",
    answers: {
      200: { text: "It can.", example: { ok: true, checks: { database: well, migrations: well, worker: well } } },
      503: {
        text: "It can't; the checks say why.",
        headers: { "Retry-After": { text: "Seconds to wait before asking again.", example: "5" } },
        example: {
          ok: false,
          checks: {
            database: well,
            migrations: well,
            worker: { ok: false, detail: "none seen in the last 60 seconds: npm run worker" },
          },
        },
      },
    },
  },
} satisfies Operation;

const numbers = z.record(z.string(), z.number());

export const readLimits = {
  methods: ["GET"],
  path: "/api/limits",
  auth: "none",
  response: z.object({
    ok: z.literal(true),
    ingest: z.object({
      wireBytes: z.int(),
      decodedBytes: z.int(),
      traces: z.int(),
      messagesPerTrace: z.int(),
      nesting: z.int(),
      idempotencyKeyDays: z.int(),
      contentEncodings: z.array(z.string()),
      trace: numbers,
      message: numbers,
    }),
    device: numbers,
    telemetry: numbers,
    traces: numbers,
    uploadRetentionDays: z.int(),
  }),
  about: {
    group: "The server",
    summary: "The limits",
    text: "What a client has to keep to, with the operator's own values in place. Bytes, seconds, days and counts, as each name says.",
    answers: {
      200: {
        text: "The limits.",
        get example() {
          return { ok: true, ...publicLimits() };
        },
      },
    },
  },
} satisfies Operation;

export const readDescription = {
  methods: ["GET"],
  path: "/api/openapi.json",
  auth: "none",
  response: z.looseObject({ openapi: z.string() }),
  about: {
    group: "The server",
    summary: "This description",
    text: "OpenAPI 3.1, for programs.",
    answers: {
      200: {
        text: "The document.",
        example: { openapi: "3.1.1", info: { title: "Spoor", version: "0.1.0" }, paths: {} },
      },
    },
  },
} satisfies Operation;

/** What better-auth answers by itself, under contracts of its own. */
export const authComponent = {
  methods: ["GET", "POST"],
  path: "/api/auth/{all}",
  auth: "none",
  params: z.object({ all: z.string() }),
  about: {
    group: "Sessions",
    summary: "People's sign-in",
    text: "Belongs to the authentication component, better-auth, and is described in its documentation. It sets the cookie `authlib.session_token`. No token opens anything here.",
    answers: {
      200: {
        text: "As the component says, with statuses and errors of its own.",
        type: "application/json",
        schema: z.unknown(),
        example: null,
      },
    },
  },
} satisfies Operation;
