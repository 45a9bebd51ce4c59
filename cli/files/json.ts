export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an empty text for any other type. A lone surrogate, which no URL can contain, becomes U+FFFD. */
export const toText = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
