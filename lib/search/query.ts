// Reading a search query, and finding it in a text.
import { SpoorError } from "#lib/errors";
import { combining, composed, forEachTerm, isBoundary, wordsAndGaps } from "#lib/search/terms";

/**
 * A word, identifier, path or phrase of a query. `coarse` is a regular expression for PostgreSQL: the lower case of every text
 * in which `pattern` is found matches it, and few other texts do. `longest` is the longest word.
 */
type Unit = { words: number; terms: number[]; pattern: RegExp; coarse: string; longest: string };

/**
 * A file that sessions touched (`file:src/x.ts`), or did not (`-file:x.ts`): its name, and the end of its path with a slash
 * before it, both in lower case. `written` is the term as it stands in the query.
 */
export type FileTerm = { name: string; ending: string; excluded: boolean; written: string };

/** All of its units must be found. */
export type Query = { units: Unit[] };

const maxWords = 32;
const maxFiles = 8;
const quoted = /(-?file:)?(?:["“”]([^"“”]*)["“”]|([^\s"“”]+))/giu;
const fileTerm = /^(-?)file:(.*)$/i;

/**
 * Reads a query: words, and phrases in quotes. A word with signs inside (`src/lib/x.ts`, `foo_bar`) is found as it is
 * written; signs at its ends do not count, and neither does case. `file:x.ts`, `file:src/x.ts` and `file:"a b.md"` are no
 * words: they name a file that a session touched by the end of its path, and with a `-` one that it did not touch.
 *
 * @throws SpoorError `invalid_request` where there is no word in it and no file, more than 32 words, or more than 8 files.
 */
export function parseQuery(text: string): Query & { files: FileTerm[] } {
  const { units, words, files } = read(text);
  if (words === 0 && files.length === 0) throw refused("has no word or number to search for");
  if (words > maxWords) throw refused(`must have at most ${maxWords} words`);
  if (files.length > maxFiles) throw refused(`must name at most ${maxFiles} files`);
  return { units, files };
}

function read(text: string): { units: Unit[]; words: number; files: FileTerm[] } {
  const units: Unit[] = [];
  const files: FileTerm[] = [];
  for (const [whole, prefix, phrase, word] of composed(text).matchAll(quoted)) {
    const file = fileOf(
      prefix && phrase !== undefined ? `${prefix}${phrase}` : phrase === undefined ? whole : "",
      whole,
    );
    if (file) files.push(file);
    const unit = file ? undefined : unitOf(phrase ?? `${prefix ?? ""}${word}`);
    if (unit) units.push(unit);
  }
  return { units, words: units.reduce((sum, unit) => sum + unit.words, 0), files };
}

function fileOf(term: string, written: string): FileTerm | undefined {
  const [, sign, path = ""] = fileTerm.exec(term) ?? [];
  return sign === undefined ? undefined : fileNamed(path, sign === "-", written);
}

/** A file by the end of its path, as people write it; undefined where that names none. */
export function fileNamed(path: string, excluded = false, written = path): FileTerm | undefined {
  const parts = path
    .replaceAll("\\", "/")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const name = parts.at(-1);
  return name === undefined ? undefined : { name, ending: `/${parts.join("/")}`, excluded, written };
}

/** Whether a text is a query, as `parseQuery` takes it. */
export function isQuery(text: string): boolean {
  const { units, words, files } = read(text);
  return units.length + files.length > 0 && words <= maxWords && files.length <= maxFiles;
}

/** The files that a query names; what has too many words has none here. */
export const filesIn = (text: string): FileTerm[] => read(text).files;

function refused(message: string): SpoorError {
  return new SpoorError("invalid_request", "The request is not valid; see errors.", {
    errors: [{ path: "q", message }],
  });
}

function unitOf(text: string): Unit | undefined {
  const pieces = wordsAndGaps(text);
  if (pieces.length === 0) return undefined;
  const words = pieces.filter((_, place) => place % 2 === 0);
  return {
    words: words.length,
    terms: termsOf(pieces),
    pattern: new RegExp(pieces.map(exactPattern).join(""), "giu"),
    coarse: coarsePattern(pieces.join("")),
    longest: words.reduce((a, b) => (b.length > a.length ? b : a)),
  };
}

/** The term of a single word; of several words their pairs, which no document has without the words. */
function termsOf(pieces: string[]): number[] {
  const terms: number[] = [];
  forEachTerm(pieces.join(""), (term) => terms.push(term), { parts: false });
  // The order is word, word, pair, word, pair, …
  return terms.length === 1 ? terms : terms.filter((_, place) => place >= 2 && place % 2 === 0);
}

/** White space matches any white space, and a straight quote a curly one. */
function exactPattern(piece: string): string {
  return piece
    .split(/(\s+|['‘’])/)
    .map((part) => (/^\s/.test(part) ? "\\s+" : /^['‘’]/.test(part) ? "['‘’]" : RegExp.escape(part)))
    .join("");
}

/** For PostgreSQL in any locale: in C it folds the case of ASCII letters only, and knows no other white space. */
function coarsePattern(piece: string): string {
  return [...piece]
    .map((character) => coarseCharacter(character.toLowerCase()))
    .join("")
    .replaceAll(/(\[\^!-~\])+/g, "[^!-~]+");
}

function coarseCharacter(character: string): string {
  if (/\s/.test(character)) return "[^!-~]";
  if (/[\p{Cc}'‘’]/u.test(character)) return "."; // PostgreSQL's texts have no NUL
  if (character <= "~") return /\w/.test(character) ? character : `\\${character}`;
  const upper = character.toUpperCase();
  if (upper.length !== character.length || [...character].length > 1) return ".{1,3}"; // such as ß, and İ in lower case
  const single = upper === character ? character : `[${character}${upper}]`;
  // A letter with an accent, or a syllable, may be two or three of the text's characters.
  return character.normalize("NFD") === character ? single : `(?:${single}|.${combining.source}{1,2})`;
}

/** A regular expression for PostgreSQL that matches every text whose lower case may contain a unit of a query. */
export const patternOf = ({ units }: Query) => units.map(({ coarse }) => coarse).join("|");

/** The units that their terms do not prove: with three words and more, the pairs may occur apart. */
export const phrasesOf = ({ units }: Query): Unit[] => units.filter(({ words }) => words > 2);

/** The ranges of a query's units in a text: `[start, end]` in its order, not overlapping. */
export type Ranges = [number, number][];

const maxRanges = 200;
/** Of so many places within words, as `a` has in `aaa`, none is looked at further: the unit counts as found there. */
const maxWithin = 1000;

/**
 * Finds a query's units in a text.
 *
 * @param text as `composed` makes it.
 * @returns the ranges, at most 200 of each unit, and how many of the units there are.
 */
export function findIn(text: string, { units }: Query): { ranges: Ranges; found: number } {
  const each = units.map((unit) => rangesOf(text, unit));
  const ranges: Ranges = [];
  for (const range of each.flat().toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (range[0] >= (ranges.at(-1)?.[1] ?? 0)) ranges.push(range);
  }
  return { ranges, found: each.filter(({ length }) => length > 0).length };
}

function rangesOf(text: string, { pattern }: Unit): Ranges {
  const ranges: Ranges = [];
  let within = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null && ranges.length < maxRanges; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    if (isBoundary(text, match.index) && isBoundary(text, end)) ranges.push([match.index, end]);
    else if (++within >= maxWithin) return ranges.length > 0 ? ranges : [[match.index, end]];
    else pattern.lastIndex = match.index + 1;
  }
  return ranges;
}
