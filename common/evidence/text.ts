export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Bidirectional formatting characters can make a text look like another. */
const bidirectional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Cleans a value to one line of at most `max` UTF-16 units; undefined if nothing is left. */
export function plainText(value: unknown, max: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value
    .slice(0, 2 * max)
    .replace(bidirectional, "")
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return (
    line
      .slice(0, max)
      .replace(/[\ud800-\udbff]$/, "")
      .toWellFormed()
      .trimEnd() || undefined
  );
}
