import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";

/**
 * Drops `__proto__` keys, so that no later copy of an object can change a prototype.
 * @throws SpoorError `invalid_json`, or `invalid_request` for too many values or more than 64 levels; neither quotes the
 * text
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength > limits.maxValues) refuseManyValues(bytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new SpoorError("invalid_json", "The body is not valid JSON in UTF-8.");
  }
  checkDepthAndDropProto(value, 1);
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

export function countValues(bytes: Uint8Array): number {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      at = endOfString(bytes, at + 1);
      if (at === -1) break;
    } else {
      values += structural[byte] as number;
    }
  }
  return values;
}

/** Returns the offset of the closing quote of the string whose content starts at `from`, or -1. */
export function endOfString(bytes: Uint8Array, from: number): number {
  for (let end = from; end < bytes.length; end += 1) {
    const byte = bytes[end];
    if (byte === quote) return end;
    if (byte === backslash) end += 1;
  }
  return -1;
}

function checkDepthAndDropProto(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.maxNesting) {
    throw new SpoorError("invalid_request", `The body is nested deeper than ${limits.maxNesting} levels.`);
  }
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") checkDepthAndDropProto(item, depth + 1);
    return;
  }
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  for (const item of Object.values(value)) if (typeof item === "object") checkDepthAndDropProto(item, depth + 1);
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");

/** Replaces characters that PostgreSQL cannot store (U+0000, lone surrogates) with U+FFFD. */
export const storable = (text: string) => (isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd"));

/** Sorted keys make equal content equal JSON. */
export function storableJson(
  value: unknown,
  text: (text: string) => string = storable,
  seeNumber?: (value: number) => void,
): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") seeNumber?.(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => storableJson(item, text, seeNumber));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [text(key), storableJson(item, text, seeNumber)]));
}
