import "#lib/messages";
import { z } from "zod";
import type { FieldError } from "#lib/errors";
import { readPullRequestName } from "#lib/evidence/remotes";

/** The most errors that one response lists. */
export const maxFieldErrors = 20;

/**
 * The issues of a validation as an error's `errors`: one of each path, at most 20. It is a path's last one, because a number past
 * all that JavaScript counts is first said to be that, and then to be over the field's own limit.
 *
 * @param place what all paths begin with.
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
/** Length of a time as JavaScript writes it: nearly all times are in this form, which it reads in a third of the time. */
const writtenCharacters = "2026-11-20T08:00:00.000Z".length;
const instantForm =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)$/;

/** The years that every part of the system can write: PostgreSQL has no year 0, ISO 8601 four digits. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * The milliseconds since 1970 of a time in RFC 3339, or in ISO 8601 with an offset: `Z`, `z`, `+02:00`, `+0200` or `+02`;
 * `T` or `t`; seconds and decimals may be missing. Decimals beyond milliseconds are cut off.
 *
 * A leap second (`:60`, at the end of a UTC month: RFC 3339, section 5.7) is the start of the next second, because neither
 * JavaScript nor PostgreSQL has one. `24:00` is refused: RFC 3339 does not have it.
 *
 * @returns null for every other text, and for a date that does not exist.
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

/** Whether a date exists in the Gregorian calendar. */
function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isStartOfMonth(at: number): boolean {
  const date = new Date(at);
  return date.getUTCDate() === 1 && at % 86_400_000 === 0;
}

/** A time as clients send it: what `parseInstant` takes, in the years 1 to 9999 (UTC). */
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

/** An `instant` as ISO 8601 in UTC with milliseconds, which PostgreSQL takes in every case. */
export const utcInstant = instant.transform((text) => new Date(parseInstant(text) ?? Number.NaN).toISOString());

/** A text that must be stored exactly as sent, or not at all. */
export const exactText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "must not contain U+0000 or a lone surrogate");

/** Control and bidirectional formatting characters, which could make a name look like another. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text without characters that could make it look like another, and well-formed. */
export const withoutInvisible = (text: string): string => text.replace(invisible, "").toWellFormed();

/** The SHA-256 of a picture's bytes. */
export const pictureHash = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in 64 lower-case hexadecimal digits");

/** A commit's hash, in full or abbreviated; in lower case. */
export const commitHash = z
  .string()
  .regex(/^[0-9a-fA-F]{7,64}$/, "must be a commit's hash, or 7 or more of its first hexadecimal digits")
  .transform((hash) => hash.toLowerCase());

/** A pull request as people name it (lib/evidence/remotes.ts). */
export const pullRequestName = z
  .string()
  .min(1)
  .max(2048)
  .refine(
    (text) => readPullRequestName(text) !== undefined,
    "must be a pull request's URL, OWNER/NAME#NUMBER, or its number",
  );

/** The fields of a trace by which traces are filtered and counted: what the list's menus offer, and what usage is broken down by. */
export const facets = ["source", "model", "project", "machine"] as const;
export type Facet = (typeof facets)[number];

/** What messages used, each token once; `unpricedTokens` are those of models without a price, `tierNotPricedTokens` those of tiers without one. */
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

/** What a CLI token may do, in the order in which it is listed: send uploads and ask for their jobs; read; delete. */
export const scopes = ["ingest", "read", "delete"] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a token whose client asked for none. */
export const usualScopes: Scope[] = ["ingest", "read"];

/** Those of some texts that are scopes, each once, in their order. A text that is none grants nothing. */
export const scopesIn = (texts: readonly string[]): Scope[] => scopes.filter((scope) => texts.includes(scope));
