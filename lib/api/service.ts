import { z } from "zod";
import { limits, publicLimits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";

const check = z.object({ ok: z.boolean(), detail: z.string().optional() });

export const drainNow = {
  methods: ["POST", "GET"],
  path: "/api/cron",
  auth: "none",
  response: z.strictObject({ ok: z.literal(true), processed: z.int(), drained: z.boolean() }),
  about: {
    group: "Server",
    summary: "Process queued work",
    text: "For hosts without a worker. Processes queued uploads for up to 45 seconds. `drained` is false if the queue was not empty by then. If a step fails, the others still run and the response is an error. Exists only if the operator set `CRON_SECRET`.",
    secret: "CRON_SECRET",
    head: false,
    answers: { 200: { text: "The number of processed uploads.", example: { ok: true, processed: 3, drained: true } } },
  },
} satisfies Operation;

export const readMetrics = {
  methods: ["GET"],
  path: "/api/metrics",
  auth: "none",
  about: {
    group: "Server",
    summary: "Get metrics",
    text: "docs/operations.md explains each metric. Exists only if the operator set `METRICS_TOKEN`.",
    secret: "METRICS_TOKEN",
    database: false,
    answers: {
      200: {
        text: "Prometheus text format.",
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
    group: "Server",
    summary: "Check health",
    text: "Does not use the database.",
    database: false,
    answers: { 200: { text: "The process is alive.", example: { ok: true } } },
  },
} satisfies Operation;

const well = { ok: true };

export const readReadiness = {
  methods: ["GET"],
  path: "/api/ready",
  auth: "none",
  response: z.object({
    ok: z.boolean(),
    checks: z.object({ database: check, migrations: check, worker: check, uploadStore: check.optional() }),
    notes: z.array(z.string()).optional(),
  }),
  about: {
    group: "Server",
    summary: "Check readiness",
    text: "Checks that the database answers and has this version's schema, that a worker was seen in the last 60 seconds, and with `UPLOAD_STORE=s3` that the store answers. `notes` contains advice for the operator.",
    database: false,
    answers: {
      200: {
        text: "All checks passed.",
        example: { ok: true, checks: { database: well, migrations: well, worker: well } },
      },
      503: {
        text: "A check failed; `detail` contains the reason.",
        headers: { "Retry-After": { text: "Seconds to wait before the next attempt.", example: "5" } },
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
      addedDigitsPerTrace: z.int(),
      nesting: z.int(),
      idempotencyKeyCharacters: z.int(),
      idempotencyKeyDays: z.int(),
      maxZstdWindowBytes: z.int(),
      maxZstdFrames: z.int(),
      maxDecodableBytes: z.int(),
      maxFormBytes: z.int(),
      maxInFlightBytes: z.int(),
      maxQueuedJobsPerUser: z.int(),
      maxReplays: z.int(),
      failedUploadDays: z.int(),
      contentEncodings: z.array(z.string()),
      trace: numbers,
      message: numbers,
    }),
    pictures: numbers,
    originals: numbers,
    device: numbers,
    signIn: numbers,
    telemetry: numbers,
    traces: numbers,
    usage: numbers,
    oauth: numbers,
    mcp: numbers,
    reads: numbers,
    request: numbers,
    body: numbers,
    cron: numbers,
    uploadRetentionDays: z.int(),
    userQuotaBytes: z.int().nullable(),
    client: z.object({ version: z.string(), sha256: z.string(), bytes: z.int() }).nullable(),
  }),
  about: {
    group: "Server",
    summary: "Get the limits",
    text: "Every limit that the server enforces, with the operator's settings. Names contain the unit; a name without one is a count, or for text a length in Unicode code points. `client` describes the client at `/spoor.mjs`, whose SHA-256 (hex) `spoor update` verifies.",
    database: false,
    answers: {
      200: {
        text: "The limits.",
        get example() {
          return { ok: true, ...publicLimits(), client: { version: "0.3.0", sha256: "9f86d081…", bytes: 720_000 } };
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
    group: "Server",
    summary: "Get the OpenAPI document",
    text: "OpenAPI 3.1. It does not change until the server restarts.",
    database: false,
    partialExample: true,
    answers: {
      200: {
        text: "The document.",
        headers: { ETag: { text: "Send it in `If-None-Match`.", example: 'W/"3q2-7wAAAAAAAAAAAAAAAA"' } },
        example: { openapi: "3.1.1", info: { title: "Spoor", version: "0.3.0" }, paths: {} },
      },
      304: { text: "`If-None-Match` matches the document." },
    },
  },
} satisfies Operation;

const authPath = (example: string) => z.object({ path: z.string().meta({ examples: [example] }) });
const authError = z.object({ code: z.string(), message: z.string() });

/** better-auth defines the statuses and bodies of these routes. */
export const callAuth = {
  methods: ["GET"],
  path: "/api/auth/{path}",
  auth: "none",
  params: authPath("get-session"),
  about: {
    group: "Sign-in",
    summary: "Read from better-auth",
    text: "The sign-in routes of better-auth, as it documents them. `get-session` returns the cookie's sign-in, or null; `callback/github` and `callback/google` redirect. No other path exists. CLI tokens have no effect.",
    foreign: true,
    head: false,
    answers: {
      200: { text: "As better-auth documents it.", schema: z.unknown(), example: null },
      302: { text: "Redirect from a provider.", headers: { Location: { text: "The next page.", example: "/traces" } } },
    },
    errors: { not_found: "There is no such path." },
  },
} satisfies Operation;

export const postAuth = {
  methods: ["POST"],
  path: "/api/auth/{path}",
  auth: "none",
  params: authPath("sign-out"),
  about: {
    group: "Sign-in",
    summary: "Call better-auth",
    text: `\`sign-in/email\` takes \`email\`, \`password\` and \`rememberMe\`, and sets the cookie \`authlib.session_token\`; if the account has a second factor, it returns \`twoFactorRedirect\`, and \`two-factor/verify-totp\` or \`two-factor/verify-backup-code\` takes the \`code\`. \`sign-out\` ends the sign-in. \`sign-in/social\` returns the \`provider\`'s address. No other path exists. Errors of better-auth itself have a \`code\` and a \`message\`. A body has at most ${limits.maxAuthBodyBytes / 1024} KiB.`,
    foreign: true,
    sent: z.looseObject({}),
    answers: {
      200: { text: "As better-auth documents it.", schema: z.looseObject({}), example: { success: true } },
      401: {
        text: "better-auth's own error.",
        schema: authError,
        example: { code: "INVALID_EMAIL_OR_PASSWORD", message: "Invalid email or password" },
      },
      429: {
        text: `More than ${limits.signIn.wrongPerHourPerNetworkAndAccount} wrong passwords or codes in an hour for an account from one network.`,
        headers: { "Retry-After": { text: "Seconds to wait before the next attempt.", example: "3600" } },
        schema: z.object({ message: z.string() }),
        example: { message: "Too many wrong attempts. Try again in 60 minutes." },
      },
      503: {
        text: "Too many sign-ins at once.",
        headers: { "Retry-After": { text: "Seconds to wait before the next attempt.", example: "2" } },
        schema: z.object({ message: z.string() }),
        example: { message: "The server is busy with other sign-ins. Try again in a moment." },
      },
    },
    errors: {
      not_found: "There is no such path.",
      payload_too_large: {
        when: "The body is too large; `detail` contains the limit.",
        detail: `The body is over the limit of ${limits.maxAuthBodyBytes} bytes.`,
      },
    },
    example: { body: {} },
  },
} satisfies Operation;
