import "#lib/core/messages";
import { z } from "zod";
import { readPullRequestName } from "#common/evidence/remotes";
import { type FieldError, SpoorError } from "#lib/core/errors";

export const maxFieldErrors = 20;

/**
 * Each path keeps its last issue, because zod reports an unsafe integer before the field's own limit.
 * @param place prefix of all paths
 */
export function fieldErrors({ issues }: z.ZodError, place: PropertyKey[] = []): FieldError[] {
  const errors = new Map<string, FieldError>();
  for (const { path: parts, message } of issues) {
    const path = [...place, ...parts].join(".");
    if (errors.size === maxFieldErrors && !errors.has(path)) break;
    errors.set(path, { path, message });
  }
  return [...errors.values()];
}

const maxInstantCharacters = 100;
/** `Date` parses JavaScript's own form in a third of the time, but does not check days beyond the 28th. */
const usualForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const instantForm =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)$/;

/** PostgreSQL has no year 0, and ISO 8601 has four digits. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses RFC 3339, and ISO 8601 with an offset (`+02:00`, `+0200`, `+02`); seconds are optional. A leap second (RFC 3339,
 * section 5.7) becomes the next second, because neither JavaScript nor PostgreSQL has one.
 * @returns milliseconds since 1970; null if the text is no time
 */
export function parseInstant(text: string): number | null {
  if (usualForm.test(text)) return Date.parse(text);
  const parts = text.length <= maxInstantCharacters ? instantForm.exec(text) : null;
  if (!parts) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const [decimals = "", sign, offsetHour = "0", offsetMinute = "0"] = parts.slice(7);
  const isTime = hour <= 23 && minute <= 59 && second <= 60 && Number(offsetHour) <= 23 && Number(offsetMinute) <= 59;
  if (!isTime || !isDate(year, month, day)) return null;
  const isLeapSecond = second === 60;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second, isLeapSecond ? 0 : Number(decimals.slice(0, 3).padEnd(3, "0")));
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const at = local.getTime() - (sign === "-" ? -offsetMs : offsetMs);
  return isLeapSecond && !isStartOfMonth(at) ? null : at;
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isStartOfMonth(at: number): boolean {
  const date = new Date(at);
  return date.getUTCDate() === 1 && at % 86_400_000 === 0;
}

/** Accepts what `parseInstant` parses, in the years 1 to 9999 (UTC). */
export const instant = z
  .string()
  .superRefine((text, { addIssue }) => {
    const at = parseInstant(text);
    if (at === null) addIssue("must be an RFC 3339 or ISO 8601 date-time with an offset or Z");
    else if (at < earliest || at > latest) addIssue("must be in the years 1 to 9999 (UTC)");
  })
  .meta({ format: "date-time" });

/** Accepts an `instant` and converts it to ISO 8601 in UTC with milliseconds. */
export const utcInstant = instant.transform((text) => new Date(parseInstant(text) ?? Number.NaN).toISOString());

/** Accepts only text that PostgreSQL stores unchanged. */
export const exactText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "must not contain U+0000 or a lone surrogate");

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: "integer", pattern: undefined, minimum: min, maximum: max });

/** Control and bidirectional formatting characters can make a name look like another. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export const withoutInvisible = (text: string): string => text.replace(invisible, "").toWellFormed();

export const sha256Text = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in 64 lower-case hexadecimal digits");

export const commitHash = z
  .string()
  .regex(/^[0-9a-fA-F]{7,64}$/, "must be a commit's hash, or 7 or more of its first hexadecimal digits")
  .transform((hash) => hash.toLowerCase());

export const pullRequestName = z
  .string()
  .min(1)
  .max(2048)
  .refine(
    (text) => readPullRequestName(text) !== undefined,
    "must be a pull request's URL, OWNER/NAME#NUMBER, or its number",
  );

export const facets = ["source", "model", "project", "machine"] as const;
export type Facet = (typeof facets)[number];

/** Each token counts once. `unpricedTokens` belong to models without a price, `tierNotPricedTokens` to tiers without one. */
export const usageShape = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cacheReadTokens: z.int(),
  cacheWrite5mTokens: z.int(),
  cacheWrite1hTokens: z.int(),
  reasoningTokens: z.int(),
  unpricedTokens: z.int(),
  tierNotPricedTokens: z.int(),
});

/** A token lists its scopes in this order. */
export const scopes = ["ingest", "read", "delete", "originals"] as const;
export type Scope = (typeof scopes)[number];

export const usualScopes: Scope[] = ["ingest", "read"];

/** Any other text grants nothing. */
export const scopesIn = (texts: readonly string[]): Scope[] => scopes.filter((scope) => texts.includes(scope));

export const encodeCursor = (place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");

/** @throws SpoorError `invalid_request` for an invalid cursor */
export function decodeCursor<Shape extends z.ZodType>(shape: Shape, cursor: string): z.output<Shape> {
  try {
    return shape.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw makeCursorError();
  }
}

export function makeCursorError(): SpoorError {
  const errors = [{ path: "cursor", message: "is not a cursor of this list" }];
  return new SpoorError("invalid_request", "The request is not valid; see errors.", { errors });
}

type Used<Count> = Record<
  "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWrite5mTokens" | "cacheWrite1hTokens",
  Count
>;

/** Includes cached tokens; falls back to the messages' own counts. */
export function usedTokens(usage: Used<number | bigint | string>, tokenCount: number | bigint | string): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const all = [inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens];
  return all.reduce<number>((sum, count) => sum + Number(count), 0) || Number(tokenCount);
}
