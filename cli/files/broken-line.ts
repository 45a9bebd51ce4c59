import { type Fields, isFields, parseJson } from "./json.ts";

/** Maximum times that a line is scanned, so that a hostile one can't take minutes. */
const maxScans = 32;

const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x7b, 0x7d];

export const partlyJson = "a part of the line is not JSON";

type Recovered = { records: Fields[]; isPartial: boolean };

/**
 * Finds the intact JSON objects on a broken line: interrupted writers leave cut records or NUL characters, and
 * concurrent writers omit newlines. An object counts if it begins the line or follows another one, or if another one or
 * the line's end follows it, so objects inside a cut record don't.
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

function findTextEnd(text: string, begin: number): number {
  let at = text.indexOf('"', begin + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
}

const isFollowed = (text: string, end: number): boolean => /^\s*(?:$|\{")/.test(text.slice(end, end + 1000));
