/** One place of a pattern's part: a character, one of a set, any one (`?`), or any number of any (`*`). */
type GlobToken = { one(character: string): boolean } | "*";

const anything: GlobToken[] = ["*"];

/** The most alternatives that braces may make, and how long they may be together. */
const [maxAlternatives, maxChars] = [64, 32 * 1024];

/** A pattern for folders, compared part by part and never by a regular expression: one from a stranger's project can't hang the client. */
export class Glob {
  readonly #alternatives: (GlobToken[] | "**")[][];
  readonly #ignoresCase: boolean;

  /** @param text parts separated by `/`: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` before a character, and `**` for any number of parts */
  constructor(text: string, { ignoresCase = false } = {}) {
    this.#alternatives = expandBraces(ignoresCase ? text.toLowerCase() : text).map((one) =>
      splitPath(one).map((part) => (part === "**" ? "**" : parseTokens(part))),
    );
    this.#ignoresCase = ignoresCase;
  }

  /** Whether a folder matches, or one that it is in. @param folder the parts of its path */
  matchesPath(folder: readonly string[]): boolean {
    const path = this.#ignoresCase ? folder.map((part) => part.toLowerCase()) : folder;
    return this.#alternatives.some((parts) => matchesParts(parts, path));
  }
}

/** The parts of a path or pattern. */
export const splitPath = (text: string): string[] => text.split("/").filter(Boolean);

/** Whether the first parts of a path match all of a pattern: the rest is below. Goes back to the last `**` only. */
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

/** Whether a text matches; goes back to the last `*` only. */
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

/** `a{b,c}` as `ab` and `ac`; braces that don't fit together are characters. */
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

/** The first braces without others inside that have a comma: in a time that is linear in the length of the text, which may be a stranger's. */
function findBraces(text: string): { before: string; parts: string[]; after: string } | undefined {
  for (const { 0: whole, 1: inner = "", index } of text.matchAll(/(?<!\\)\{((?:\\.|[^\\{}])*)\}/gs)) {
    const parts = splitAtCommas(inner);
    if (parts.length > 1) return { before: text.slice(0, index), parts, after: text.slice(index + whole.length) };
  }
  return undefined;
}

const splitAtCommas = (text: string): string[] => text.match(/(?:\\.|[^\\,])+|(?<=,|^)(?=,|$)/g) ?? [""];

/** A text that matches nothing but itself. */
export const escapeGlob = (text: string): string => text.replace(/[\\*?[\]{}]/g, "\\$&");

export const hasWildcards = (text: string): boolean => /(?<!\\)[*?[{]/.test(text);

export const unescapeGlob = (text: string): string => text.replace(/\\(.)/g, "$1");
