export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A field that should be a text; empty where it is not. A lone surrogate, which no URL can have, becomes U+FFFD. */
export const toText = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");

/** Parses a JSON text; undefined where it is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
