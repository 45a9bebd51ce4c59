import "#lib/messages";
import { z } from "zod";
import type { FieldError } from "#lib/errors";
import { readPullRequestName } from "#lib/evidence/remotes";

export const maxFieldErrors = 20;

/**
 * Converts a validation's issues, at most 20. The last issue of a path counts, since a number past JavaScript's range
 * is over the field's own limit too.
 * @param place begins all paths
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
/** Nearly all times are as JavaScript writes them, and in this form it reads them three times as fast. */
const writtenCharacters = "2026-11-20T08:00:00.000Z".length;
const instantForm =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)$/;

/** PostgreSQL has no year 0, ISO 8601 four digits. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses RFC 3339, or ISO 8601 with an offset (`Z`, `z`, `+02:00`, `+0200`, `+02`), into milliseconds since 1970.
 * Seconds and decimals may be missing.
 * A leap second (`:60`: RFC 3339, section 5.7) is the start of the next one, because neither JavaScript nor PostgreSQL
 * has one. `24:00` is not in RFC 3339.
 * @returns null for any other text, and for a date that does not exist
 */
export function parseInstant(text: string): number | null {
  if (text.length === writtenCharacters) {
    const at = Date.parse(text);
    if (!Number.isNaN(at) && new Date(at).toISOString() === text) return at;
  }
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

/** A time that `parseInstant` takes, in the years 1 to 9999 (UTC). */
export const instant = z
  .string()
  .refine((text) => parseInstant(text) !== null, {
    error: "must be an RFC 3339 or ISO 8601 date-time with an offset or Z",
    abort: true,
  })
  .refine((text) => {
    const at = parseInstant(text) ?? Number.NaN;
    return at >= earliest && at <= latest;
  }, "must be in the years 1 to 9999 (UTC)")
  .meta({ format: "date-time" });

/** PostgreSQL takes this form in every case. */
export const utcInstant = instant.transform((text) => new Date(parseInstant(text) ?? Number.NaN).toISOString());

/** A text that is stored exactly as sent, or not at all. */
export const exactText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "must not contain U+0000 or a lone surrogate");

/** These could make a name look like another. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export const withoutInvisible = (text: string): string => text.replace(invisible, "").toWellFormed();

export const pictureHash = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in 64 lower-case hexadecimal digits");

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

/** Traces are filtered, and usage is broken down, by these fields. */
export const facets = ["source", "model", "project", "machine"] as const;
export type Facet = (typeof facets)[number];

/** Tokens of models, or of tiers, without a price are counted again in the last two fields. */
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

export const scopes = ["ingest", "read", "delete"] as const;
export type Scope = (typeof scopes)[number];

/** For a client that asked for none. */
export const usualScopes: Scope[] = ["ingest", "read"];

/** Returns the scopes among some texts, in their order. */
export const scopesIn = (texts: readonly string[]): Scope[] => scopes.filter((scope) => texts.includes(scope));
