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
  if (bytes.byteLength > limits.maxValues) refuseManyValues(bytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new SpoorError("invalid_json", "The body is not valid JSON in UTF-8.");
  }
  tame(value, 1);
  return value;
}

const quote = 0x22;
const backslash = 0x5c;
const structural = new Uint8Array(256);
for (const character of "{[,") structural[character.charCodeAt(0)] = 1;

/** 24 kB can inflate to a hundred million empty objects. */
function refuseManyValues(bytes: Uint8Array): void {
  if (countValues(bytes) > limits.maxValues) {
    throw new SpoorError("invalid_request", `The body has more than ${limits.maxValues} values.`);
  }
}

/** Counts what a JSON text would make before it is made: its objects, arrays, and what is in them but for the first. */
export function countValues(bytes: Uint8Array): number {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      at = endOfString(bytes, at + 1);
    } else {
      values += structural[byte] as number;
    }
  }
  return values;
}

/** Where the string that began before `at` ends; quotes behind an odd number of backslashes are part of it. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let end = bytes.indexOf(quote, at); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}

function tame(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.maxNesting) {
    throw new SpoorError("invalid_request", `The body is nested deeper than ${limits.maxNesting} levels.`);
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
