import { z } from "zod";
import { exactText, facets, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

/** A session may have several pull requests (`pr`). */
export const usageFacets = [...facets, "branch", "pr"] as const;
export type UsageFacet = (typeof usageFacets)[number];

export const units = ["day", "week", "month", "total"] as const;
export type Unit = (typeof units)[number];

const zone = z.string().max(64).refine(isZone, "must be a time zone's IANA name, such as Europe/Berlin");

/** Days are compared as text, so all years, including neighbors, need four digits. */
const isCounted = (text: string) => text >= "0005-01-01" && text < "9999-01-01";
const notCounted = "must be in the years 5 to 9998";

export const usageDay = z.iso
  .date("must be a day, as YYYY-MM-DD, or a date-time with an offset or Z")
  .refine(isCounted, notCounted);

const moment = z.union([usageDay, utcInstant.refine(isCounted, notCounted)]);

export const usageFilter = {
  source: exactText(1, limits.trace.source).optional(),
  model: exactText(1, limits.trace.model).optional(),
  project: exactText(1, limits.trace.project).optional(),
  machine: exactText(1, limits.device.machine).optional(),
};
export type UsageFilter = z.output<z.ZodObject<typeof usageFilter>>;

export const usageQuery = z.object({
  from: moment.optional(),
  to: moment.optional(),
  zone: zone.default("UTC"),
  unit: z.enum(units).default("day"),
  by: z.enum(usageFacets).optional(),
  ...usageFilter,
});
export type UsageQuery = z.output<typeof usageQuery>;

const money = z.int();
const count = z.int();

/** In nano-dollars. `tokenCount` sums messages' own token counts. */
export const figuresShape = z.object({
  costNano: money,
  recordedNano: money,
  compared: z.object({ costNano: money, recordedNano: money }),
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWrite5mTokens: count,
  cacheWrite1hTokens: count,
  reasoningTokens: count,
  unpricedTokens: count,
  tierNotPricedTokens: count,
  tokenCount: count,
  messages: count,
  sessions: count,
});
export type Figures = z.output<typeof figuresShape>;

export const noFigures = (): Figures => ({
  ...{ costNano: 0, recordedNano: 0, compared: { costNano: 0, recordedNano: 0 } },
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 },
  ...{ reasoningTokens: 0, unpricedTokens: 0, tierNotPricedTokens: 0, tokenCount: 0, messages: 0, sessions: 0 },
});

const valueShape = z.object({
  value: z.string().nullable(),
  ...figuresShape.shape,
});
/** Null if the client sent none. */
export type ValueFigures = z.output<typeof valueShape>;

const spanShape = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  ...figuresShape.shape,
  values: z.array(valueShape).optional(),
});

export const usageResponse = z.object({
  ok: z.literal(true),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  zone: z.string(),
  unit: z.enum(units),
  by: z.enum(usageFacets).nullable(),
  pendingSessions: count,
  total: z.object({ ...figuresShape.shape, untimedMessages: count, uncountedMessages: count }),
  values: z.array(valueShape).optional(),
  otherValues: count.optional(),
  spans: z.array(spanShape),
});
export type UsageResponse = z.output<typeof usageResponse>;

function isZone(text: string): boolean {
  try {
    return text !== "" && Boolean(new Intl.DateTimeFormat("en", { timeZone: text }));
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Empty for all usage. */
const budgetFacets = ["", "project", "source", "model"] as const;
export type BudgetFacet = (typeof budgetFacets)[number];

const maxDollars = 1_000_000;

export const budgetKey = z.object({ facet: z.enum(budgetFacets), value: exactText(0, 512) });

/** `of` is JSON: a facet and its value, both empty for all usage. */
export const budgetForm = z.object({
  of: z
    .string()
    .transform((json) => parseJson(json))
    .pipe(z.tuple([z.enum(budgetFacets), exactText(0, 512)], "Choose what the budget is for."))
    .refine(([facet, value]) => (facet === "") === (value === ""), "Choose what the budget is for.")
    .transform(([facet, value]) => ({ facet, value })),
  amount: z
    .string()
    .trim()
    .regex(/^\d{1,9}([.,]\d{1,2})?$/, "Enter an amount, such as 200 or 49.50.")
    .transform((text) => Number(text.replace(",", ".")))
    .refine((amount) => amount >= 0.01 && amount <= maxDollars, "Enter an amount from 0.01 to 1,000,000."),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
