import { z } from "zod";
import { exactText, instant, sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { ingest, trace: max, message: messageLimits } = limits;

const wholeNumber = z.int().min(0).max(messageLimits.integer);
const metadata = z.record(z.string(), z.unknown(), { error: "must be an object" });

export const ingestMessage = z.looseObject({
  position: wholeNumber.describe("The message's position, unique in its trace. Gaps and any order are allowed."),
  content: z.string(),
  role: z.string().max(messageLimits.role).optional(),
  tokenCount: wholeNumber.optional(),
  createdAt: instant.optional(),
  metadata: metadata.optional(),
});

export const ingestTrace = z
  .looseObject({
    // No character of the key may be replaced.
    sourceId: exactText(1, max.sourceId).describe("The session's id at its source."),
    source: exactText(1, max.source).default("unknown").describe("The session's agent or adapter."),
    messages: z.array(ingestMessage).max(ingest.messagesPerTrace),
    model: z.string().max(max.model).optional(),
    title: z.string().max(max.title).optional(),
    project: z.string().max(max.project).optional(),
    createdAt: instant.optional(),
    replace: z.boolean().optional().describe("Allows the stored trace to become shorter."),
    metadata: metadata.optional(),
    append: z
      .looseObject({ count: wholeNumber.describe("The number of messages of the trace that were sent before.") })
      .optional()
      .describe("The messages follow those that were sent before. Fields that are absent stay as they are stored."),
  })
  .refine(({ append, replace }) => append === undefined || replace === undefined, {
    path: ["append"],
    error: "can't be combined with replace",
  });

/** zod's errors for five million invalid messages take 3 GB, so each trace is parsed by itself. */
export const ingestRequest = z.looseObject({ traces: z.array(z.unknown()).max(ingest.traces) });

export type SentTrace = z.output<typeof ingestTrace>;
export type SentMessage = z.output<typeof ingestMessage>;

export const ingestResponse = z.strictObject({ ok: z.literal(true), jobId: z.uuid(), status: z.literal("queued") });

const { idempotencyKeyCharacters: keyCharacters } = ingest;

export const idempotencyKey = z
  .string()
  .regex(new RegExp(`^[\\x20-\\x7e]{1,${keyCharacters}}$`), `must be 1 to ${keyCharacters} printable ASCII characters`);

const count = z.int().min(0);

export const openStatuses = ["queued", "running"] as const;

export const jobStatus = z.enum([...openStatuses, "succeeded", "failed"]);

export const incompleteTrace = z.object({ source: z.string(), sourceId: z.string(), messageCount: count });

export const keptReasons = ["deleted", "newer", "shorter"] as const;

export const keptTrace = incompleteTrace.extend({ reason: z.enum(keptReasons) });

export const jobResponse = z.object({
  ok: z.literal(true),
  jobId: z.uuid(),
  status: jobStatus,
  attempts: count,
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  bytes: count,
  traces: z.object({
    received: count,
    created: count,
    updated: count,
    unchanged: count,
    kept: count,
    incomplete: count,
  }),
  messages: z.object({ received: count, written: count }),
  incomplete: z.array(incompleteTrace).optional().describe("Traces that must be sent whole."),
  kept: z.array(keptTrace).optional().describe("Traces that were not changed, each with the reason."),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export const ingestPayload = z.object({ userId: z.uuid(), jobId: z.uuid() });

/** `POST /api/pictures/missing`. */
export const missingPicturesRequest = z.looseObject({
  hashes: z.array(sha256Text).max(limits.pictures.hashesPerRequest),
});
export const missingPicturesResponse = z.strictObject({
  ok: z.literal(true),
  missing: z.array(sha256Text),
  maxBytes: z.int(),
});
