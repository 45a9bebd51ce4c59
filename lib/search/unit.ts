// A word, identifier, path or phrase of a query: by which terms the index finds it, and how a text shows it.
import { formsOfWord } from "#lib/search/forms";
import {
  combining,
  endOfWord,
  fold,
  forEachTerm,
  isBoundary,
  partsOf,
  termOfWord,
  wordsAndGaps,
} from "#lib/search/terms";

/**
 * `alternatives` are the terms of each form in which it is found, the form as written first. `beginning` is what longer words may
 * begin with. `coarse` is a regular expression for PostgreSQL: the lower case of every text in which `pattern` is found matches
 * it, and few other texts do. `longest` is the longest word; `isOpen` says that a match may end within a word. `fact` is what a
 * message must be rather than say (lib/search/speaker.ts), in lower case.
 */
export type Unit = {
  words: number;
  written: string;
  alternatives: number[][];
  beginning?: string;
  field?: "title" | "person";
  fact?: string;
  pattern: RegExp;
  coarse: string;
  longest: string;
  isOpen: boolean;
  /** Whether only the text can tell that it is there: pairs of three words may occur apart, and a `_` pairs humps too. */
  needsText: boolean;
};

/** Shorter words begin too many others. */
const minBeginning = 3;

/** @param isExact whether other forms of the words are not meant; undefined for a text without words */
export function unitOf(written: string, isExact: boolean): Unit | undefined {
  const pieces = wordsAndGaps(written);
  const [first] = pieces;
  if (first === undefined) return undefined;
  const words = pieces.filter((_, place) => place % 2 === 0);
  const forms = isExact ? [] : formsOf(pieces);
  const beginning = !isExact && words.length === 1 ? beginningOf(first) : undefined;
  const texts = [pieces, ...forms];
  return {
    words: words.length,
    written,
    alternatives: texts.map(termsOf),
    ...(beginning && { beginning }),
    pattern: patternOfForms(texts, isExact),
    coarse: texts.map((form) => coarsePattern(form.join(""))).join("|"),
    longest: words.reduce((a, b) => (b.length > a.length ? b : a)),
    isOpen: beginning !== undefined,
    needsText: words.length > 2 || (isExact && written.includes("_")),
  };
}

/** A number begins no other one, and neither does a character of a script without spaces. */
function beginningOf(word: string): string | undefined {
  const isWhole =
    word.length < minBeginning ||
    /\d$/.test(word) ||
    /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]/u.test(word);
  return isWhole ? undefined : fold(word);
}

/** The other forms of an identifier, with `_` or as one word, or of a word (lib/search/forms.ts). */
function formsOf(pieces: string[]): string[][] {
  if (pieces.some((gap, place) => place % 2 === 1 && gap !== "_")) return [];
  const parts = pieces.filter((_, place) => place % 2 === 0).flatMap(partsOf);
  if (parts.length === 1) return formsOfWord(parts[0] as string).map((word) => [word]);
  const joined = [parts.flatMap((part, place) => (place === 0 ? [part] : ["_", part])), [parts.join("")]];
  const own = fold(pieces.join(""));
  return joined.filter((form) => fold(form.join("")) !== own);
}

/** The form as written first, in a group: it alone may end within a word. Of the others the longest is tried first. */
function patternOfForms([written = [], ...others]: string[][], isExact: boolean): RegExp {
  const sourceOf = (form: string[]) => form.map((piece) => exactPattern(piece, isExact)).join("");
  const longestFirst = others.map(sourceOf).toSorted((a, b) => b.length - a.length);
  return new RegExp([`(${sourceOf(written)})`, ...longestFirst].join("|"), "giu");
}

/** The term of a single word; of several words their pairs, which no document has without the words. */
function termsOf(pieces: string[]): number[] {
  if (pieces.length === 1) return [termOfWord(pieces[0] as string)];
  const terms: number[] = [];
  forEachTerm(pieces.join(""), (term) => terms.push(term), { parts: false });
  // The order is word, word, pair, word, pair, …
  return terms.filter((_, place) => place >= 2 && place % 2 === 0);
}

/** White space matches any white space, a straight quote a curly one; `_` also nothing, as between the parts of `xmlTags`. */
function exactPattern(piece: string, isExact: boolean): string {
  if (piece === "_" && !isExact) return "_?";
  return piece
    .split(/(\s+|['‘’])/)
    .map((part) => (/^\s/.test(part) ? "\\s+" : /^['‘’]/.test(part) ? "['‘’]" : RegExp.escape(part)))
    .join("");
}

/** For PostgreSQL in any locale: in C it folds the case of ASCII letters only, and knows no other white space. */
function coarsePattern(text: string): string {
  return [...text]
    .map((character) => (character === "_" ? "_?" : coarseCharacter(character.toLowerCase())))
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

/** A regular expression for PostgreSQL that matches every text whose lower case may contain one of some units. */
export const patternOf = (units: Unit[]) => units.map(({ coarse }) => coarse).join("|");

/** The ranges of a query's units in a text: `[start, end]` in its order, not overlapping. */
export type Ranges = [number, number][];

const maxRanges = 200;
/** Of so many places within words, as `a` has in `aaa`, none is looked at further: the unit counts as found there. */
const maxWithin = 1000;

/**
 * Finds units in a text.
 *
 * @param text as `composed` makes it.
 * @returns the ranges, at most 200 of each unit, how many of the units there are, and the ranges of each.
 */
export function findIn(text: string, { units }: { units: Unit[] }): { ranges: Ranges; found: number; each: Ranges[] } {
  const each = units.map((unit) => rangesOf(text, unit));
  const ranges: Ranges = [];
  for (const range of each.flat().toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (range[0] >= (ranges.at(-1)?.[1] ?? 0)) ranges.push(range);
  }
  return { ranges, found: each.filter(({ length }) => length > 0).length, each };
}

function rangesOf(text: string, { pattern, isOpen }: Unit): Ranges {
  const ranges: Ranges = [];
  let within = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null && ranges.length < maxRanges; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    const isWhole = isBoundary(text, end);
    if (isBoundary(text, match.index) && (isWhole || (isOpen && match[1] !== undefined)))
      ranges.push([match.index, isWhole ? end : endOfWord(text, end)]);
    else if (++within >= maxWithin) return ranges.length > 0 ? ranges : [[match.index, end]];
    else pattern.lastIndex = match.index + 1;
  }
  return ranges;
}
