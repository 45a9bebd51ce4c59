type GlobToken = { one(character: string): boolean } | "*";

const anything: GlobToken[] = ["*"];

const [maxAlternatives, maxChars] = [64, 32 * 1024];

/** Without regular expressions, a stranger's pattern can't hang the client. */
export class Glob {
  readonly #alternatives: (GlobToken[] | "**")[][];
  readonly #ignoresCase: boolean;

  /**
   * @param text segments separated by `/`: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` before a character, and `**` for
   * any number of segments
   */
  constructor(text: string, { ignoresCase = false } = {}) {
    this.#alternatives = expandBraces(ignoresCase ? text.toLowerCase() : text).map((one) =>
      splitPath(one).map((part) => (part === "**" ? "**" : parseTokens(part))),
    );
    this.#ignoresCase = ignoresCase;
  }

  /** Tells whether a folder, or one above it, matches. @param folder the segments of its path */
  matchesPath(folder: readonly string[]): boolean {
    const path = this.#ignoresCase ? folder.map((part) => part.toLowerCase()) : folder;
    return this.#alternatives.some((parts) => matchesParts(parts, path));
  }
}

export const splitPath = (text: string): string[] => text.split("/").filter(Boolean);

/** It matches a beginning of the path, and backtracks to the last `**` only. */
function matchesParts(parts: (GlobToken[] | "**")[], path: readonly string[]): boolean {
  let [at, place, retryAt, retryPlace] = [0, 0, -1, 0];
  while (at < parts.length) {
    const part = parts[at];
    if (part === "**") {
      retryAt = ++at;
      retryPlace = place;
    } else if (part && place < path.length && matchesText(part, path[place] ?? "")) {
      at++;
      place++;
    } else if (retryAt !== -1 && retryPlace < path.length) {
      at = retryAt;
      place = ++retryPlace;
    } else return false;
  }
  return true;
}

function matchesText(tokens: GlobToken[], text: string): boolean {
  const characters = [...text];
  let [at, place, retryAt, retryPlace] = [0, 0, -1, 0];
  while (place < characters.length) {
    const token = tokens[at];
    if (token === "*") {
      retryAt = ++at;
      retryPlace = place;
    } else if (token?.one(characters[place] ?? "")) {
      at++;
      place++;
    } else if (retryAt !== -1) {
      at = retryAt;
      place = ++retryPlace;
    } else return false;
  }
  while (tokens[at] === "*") at++;
  return at === tokens.length;
}

function parseTokens(part: string): GlobToken[] {
  if (part === "*") return anything;
  const tokens: GlobToken[] = [];
  const pattern = /\\(.)|(\*+)|(\?)|\[([!^]?)(\]?[^\]]*)\]|(.)/gsu;
  for (const [, escaped, stars, any, not, set, plain] of part.matchAll(pattern)) {
    if (stars) tokens.push("*");
    else if (any) tokens.push({ one: () => true });
    else if (set) tokens.push({ one: (character) => isInSet(character, set) !== (not !== "") });
    else {
      const wanted = escaped ?? plain ?? "";
      tokens.push({ one: (character) => character === wanted });
    }
  }
  return tokens;
}

function isInSet(character: string, set: string): boolean {
  for (const [, from = "", to = from] of set.matchAll(/(.)(?:-(.))?/gsu)) {
    if (character >= from && character <= to) return true;
  }
  return false;
}

/** Expands `a{b,c}` to `ab` and `ac`; unbalanced braces are literal. */
function expandBraces(text: string): string[] {
  const done: string[] = [];
  const open = [text];
  const mayGrow = () => (done.length + open.length) * text.length <= maxChars || done.length + open.length === 1;
  while (open.length > 0 && done.length + open.length <= maxAlternatives && mayGrow()) {
    const next = open.pop() ?? "";
    const braces = findBraces(next);
    if (!braces) done.push(next);
    else for (const one of braces.parts) open.push(braces.before + one + braces.after);
  }
  return [...done, ...open];
}

/** Finds the first innermost braces with a comma, in linear time, because the text may be a stranger's. */
function findBraces(text: string): { before: string; parts: string[]; after: string } | undefined {
  for (const { 0: whole, 1: inner = "", index } of text.matchAll(/(?<!\\)\{((?:\\.|[^\\{}])*)\}/gs)) {
    const parts = splitAtCommas(inner);
    if (parts.length > 1) return { before: text.slice(0, index), parts, after: text.slice(index + whole.length) };
  }
  return undefined;
}

const splitAtCommas = (text: string): string[] => text.match(/(?:\\.|[^\\,])+|(?<=,|^)(?=,|$)/g) ?? [""];

export const escapeGlob = (text: string): string => text.replace(/[\\*?[\]{}]/g, "\\$&");

export const hasWildcards = (text: string): boolean => /(?<!\\)[*?[{]/.test(text);

export const unescapeGlob = (text: string): string => text.replace(/\\(.)/g, "$1");
