import { z } from "zod";
import { exactText, sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { originals, trace } = limits;

/** An age recipient: an X25519 key in Bech32. */
const recipient = z
  .string()
  .regex(/^age1[02-9ac-hj-np-z]{58}$/, "must be an age recipient, as age1…")
  .meta({ examples: ["age1vhddrrdds2wrxxphkarvnghnryr8t8ty827p4eeg932yvsfjascq9h5mqd"] });

/** The first 32 bits of the recipient's SHA-256. */
const fingerprint = z.string().regex(/^[0-9A-F]{8}$/);

export const keyRequest = z.object({ recipient });

export const keyResponse = z.strictObject({
  ok: z.literal(true),
  recipient,
  fingerprint,
  createdAt: z.iso.datetime(),
});

export const originalParams = z.object({
  source: exactText(1, trace.source).meta({ examples: ["claude-code"] }),
  sourceId: exactText(1, trace.sourceId).meta({ examples: ["0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55"] }),
});

export const partParams = z.object({ sha256: sha256Text });

const count = (max: number) => z.int().min(0).max(max);

export const originalRequest = z.object({
  recipient,
  files: count(originals.files),
  plainBytes: count(Number.MAX_SAFE_INTEGER),
  head: z
    .base64()
    .max(Math.ceil(originals.headBytes / 3) * 4)
    .meta({
      format: undefined,
      description: "An age file in base64 (RFC 4648, section 4), which only the client reads.",
    }),
  parts: z.array(sha256Text).max(originals.parts).describe("In the order in which the client needs them."),
});

export const writtenResponse = z.strictObject({ ok: z.literal(true), version: z.string() });

const about = {
  source: z.string(),
  sourceId: z.string(),
  version: z.string(),
  fingerprint,
  files: z.int(),
  plainBytes: z.int(),
  storedBytes: z.int(),
  machine: z.string(),
  updatedAt: z.iso.datetime(),
};

export const originalResponse = z.strictObject({
  ok: z.literal(true),
  ...about,
  recipient,
  head: z.base64().meta({ format: undefined }),
  parts: z.array(z.strictObject({ sha256: sha256Text, bytes: z.int() })),
});

const listedOriginal = z.strictObject({
  ...about,
  title: z.string().nullable().describe("Null without a stored session."),
  project: z.string().nullable(),
});

export const originalsQuery = z.object({
  source: exactText(1, trace.source).optional(),
  sourceId: exactText(1, trace.sourceId).optional(),
  cursor: z.string().max(originals.cursor).optional().describe("`nextCursor` of the previous page."),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(1).max(originals.maxPerPage))
    .default(originals.perPage)
    .meta({ type: "integer", pattern: undefined, minimum: 1, maximum: originals.maxPerPage }),
});
export type OriginalsQuery = z.output<typeof originalsQuery>;

export const originalsResponse = z.strictObject({
  ok: z.literal(true),
  originals: z.array(listedOriginal),
  nextCursor: z.string().nullable(),
});
