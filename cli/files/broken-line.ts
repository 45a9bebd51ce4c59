import { type Fields, isFields, parseJson } from "./json.ts";

/** Maximum times that a line is scanned: a hostile one must not cost minutes. */
const maxScans = 32;

const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x7b, 0x7d];

/** Why a line of which something was read counts as invalid. */
export const partlyJson = "a part of the line is not JSON";

/** The records that could be read of a line; `isPartial` if anything on it could not. */
type Recovered = { records: Fields[]; isPartial: boolean };

/**
 * Finds the intact JSON objects on a line that is not JSON: a writer that was interrupted leaves a cut record or NUL characters
 * in front of the next one, and two writers leave out the newline.
 *
 * An object counts if it begins the line or follows another one, or if another one or the end of the line follows it. Objects
 * inside a record that was cut don't, but for one right before the cut, which adapters ignore as they do unknown types.
 */
export function recoverRecords(line: string): Recovered {
  const text = line.replaceAll("\0", "").trim();
  const records: Fields[] = [];
  let isPartial = text === "";
  let scanned = 0;
  let at = 0;
  while (at < text.length) {
    const begin = text.indexOf('{"', at);
    if (begin === -1 || scanned > maxScans * text.length) return { records, isPartial: true };
    const isNext = text.slice(at, begin).trim() === "";
    const end = findObjectEnd(text, begin);
    scanned += (end ?? text.length) - begin;
    const record = end === undefined ? undefined : parseJson(text.slice(begin, end));
    const isIntact = end !== undefined && isFields(record);
    const isRecord = isIntact && (isNext || isFollowed(text, end));
    if (isRecord) records.push(record);
    if (!isRecord || !isNext) isPartial = true;
    at = isIntact ? end : begin + 1;
  }
  return { records, isPartial };
}

/** Finds the end of the object that begins at a place, if its braces are balanced. */
function findObjectEnd(text: string, begin: number): number | undefined {
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === opening) depth++;
    else if (code === closing && --depth === 0) return at + 1;
    else if (code === quote) {
      at = findTextEnd(text, at);
      if (at === -1) return undefined;
    }
  }
  return undefined;
}

/** The place of the quotation mark that ends the text which begins at a place; -1 if none does. */
function findTextEnd(text: string, begin: number): number {
  let at = text.indexOf('"', begin + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

/** Tells whether an odd number of backslashes precedes a place. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
}

/** Tells whether the end of the line or another object follows. */
const isFollowed = (text: string, end: number): boolean => /^\s*(?:$|\{")/.test(text.slice(end, end + 1000));
