import { z } from "zod";
import { storable, storableJson } from "#lib/core/json";
import { limits } from "#lib/core/limits";

const { telemetry: max } = limits;

/** Replaces characters that PostgreSQL can't store. */
const text = (length: number) => z.string().max(length).transform(storable);

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

const diagnostic = z.object({
  adapter: text(max.adapter)
    .refine((name) => name.length > 0, "must not be empty")
    .meta({ minLength: 1 }),
  source: text(max.source).optional(),
  totalEntries: count,
  skippedEntries: count,
  invalidEntries: count,
  eventCount: count,
  traceCount: count,
  rejectedTraces: count,
  unhandledTypes: z.array(text(max.unhandledType)).max(max.unhandledTypes).default([]),
  emptyParse: z.boolean().default(false),
});

const properties = z
  .record(z.string(), z.unknown(), { error: "must be an object" })
  .transform((value) => JSON.stringify(storableJson(value)))
  .refine((json) => Buffer.byteLength(json) <= max.eventPropertiesBytes, `at most ${max.eventPropertiesBytes} bytes`);

const event = z.object({
  name: text(max.eventName)
    .refine((name) => name.length > 0, "must not be empty")
    .meta({ minLength: 1 }),
  properties: properties.prefault({}),
});

/** Metadata about a scan, never file names or content. */
export const telemetryRequest = z.object({
  schema: z.number(),
  deviceId: text(max.deviceId)
    .refine((id) => id.length > 0, "must not be empty")
    .meta({ minLength: 1 }),
  cliVersion: text(max.cliVersion),
  platform: text(max.platform),
  arch: text(max.arch),
  command: text(max.command),
  diagnostics: z.array(diagnostic).max(max.diagnostics),
  sentAt: text(max.sentAt).optional(),
  events: z.array(event).max(max.events).default([]),
});

export type Submission = z.output<typeof telemetryRequest>;

export const telemetryResponse = z.strictObject({
  ok: z.literal(true),
  accepted: z.int().min(0),
  forwarded: z.boolean(),
});
