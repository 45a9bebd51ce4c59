import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";

/**
 * Parses a request's JSON, whatever it holds.
 *
 * `__proto__` keys are dropped, so that no later copy of an object can change a prototype.
 *
 * @throws SpoorError `invalid_json` for anything that is not JSON in UTF-8, `invalid_request` for what is nested deeper
 *   than 64 levels. Neither quotes the text.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new SpoorError("invalid_json", "The body is not valid JSON in UTF-8.");
  }
  tame(value, 1);
  return value;
}

function tame(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.nesting) {
    throw new SpoorError("invalid_request", `The body is nested deeper than ${limits.nesting} levels.`);
  }
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") tame(item, depth + 1);
    return;
  }
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  for (const item of Object.values(value)) if (typeof item === "object") tame(item, depth + 1);
}

/** Whether PostgreSQL can hold a text: it has no U+0000, and UTF-8 has no lone surrogates. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");

/** A text with U+FFFD in the place of everything that PostgreSQL can't hold. */
export const storable = (text: string) => (isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd"));

/** A JSON value with its texts made storable and its keys sorted, so that the same content is the same JSON. */
export function storableJson(value: unknown, text: (text: string) => string = storable): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => storableJson(item, text));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [text(key), storableJson(item, text)]));
}
