import { z } from "zod";
import { exactText, utcInstant } from "#lib/fields";
import { limits } from "#lib/limits";

const { traces: page } = limits;

const metadata = z.record(z.string(), z.unknown()).nullable();

export const traceShape = z.object({
  id: z.uuid(),
  source: z.string(),
  sourceId: z.string(),
  model: z.string().nullable(),
  title: z.string().nullable(),
  project: z.string().nullable(),
  createdAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
  messageCount: z.int(),
  tokenCount: z.int(),
  sanitized: z.boolean(),
  metadata,
});

export const messageShape = z.object({
  position: z.int(),
  role: z.string().nullable(),
  content: z.string(),
  tokenCount: z.int().nullable(),
  createdAt: z.iso.datetime().nullable(),
  metadata,
});

const filter = {
  q: exactText(1, page.query).optional(),
  source: exactText(1, limits.trace.source).optional(),
  model: exactText(1, limits.trace.model).optional(),
  project: exactText(1, limits.trace.project).optional(),
  machine: exactText(1, limits.device.machine).optional(),
  from: utcInstant.optional(),
  to: utcInstant.optional(),
};

/** What narrows a list or an export: words to be found (lib/search/query.ts), exact values, and a span of the last activity (`from` included, `to` not). */
export const traceFilter = z.object(filter);
export type TraceFilter = z.output<typeof traceFilter>;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: "integer", pattern: undefined, minimum: min, maximum: max });

export const listQuery = z.object({
  ...filter,
  cursor: z.string().min(1).max(256).optional(),
  limit: wholeNumber(1, page.maxPerPage).default(page.perPage),
});

export const listResponse = z.object({
  ok: z.literal(true),
  traces: z.array(traceShape),
  nextCursor: z.string().nullable(),
});

export const traceResponse = z.object({ ok: z.literal(true), trace: traceShape });

export const messagesQuery = z.object({
  after: wholeNumber(0, limits.message.integer).optional(),
  limit: wholeNumber(1, page.maxMessagesPerPage).default(page.messagesPerPage),
});

export const messagesResponse = z.object({
  ok: z.literal(true),
  messages: z.array(messageShape),
  nextAfter: z.int().nullable(),
});

export const matchesQuery = z.object({ q: exactText(1, page.query) });

/** Where a text stands in a trace: each place is a message's position and how often the text stands in it. */
export const matchesShape = z.object({
  total: z.int(),
  messages: z.int(),
  places: z.array(z.tuple([z.int(), z.int()])),
});
export type Matches = z.output<typeof matchesShape>;

export const matchesResponse = matchesShape.extend({ ok: z.literal(true) });

export const growthQuery = z.object({ after: wholeNumber(0, limits.message.integer) });

export const growthResponse = z.object({ ok: z.literal(true), messages: z.int() });
