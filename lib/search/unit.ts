// A word, identifier, path or phrase of a query: by which terms the index finds it, and how a text shows it.
import { formsOfWord } from "#lib/search/forms";
import {
  combining,
  endOfWord,
  fold,
  forEachTerm,
  isBoundary,
  splitCompound,
  termOfWord,
  wordsAndGaps,
} from "#lib/search/terms";

/**
 * `alternatives` are the terms of each form in which it is found, the form as written first. `beginning` is what longer words
 * may begin with. `coarse` is a regular expression for PostgreSQL: the lower case of every text in which `pattern` is found
 * matches it, and few other texts do. `plain` are the words of `pattern`, in its order, where all are of ASCII letters and
 * digits. `longest` is the longest word; `isOpen` says that a match may end within a word. `fact` is what a message must be
 * rather than say (lib/search/speaker.ts), in lower case.
 */
export type QueryUnit = {
  words: number;
  written: string;
  alternatives: number[][];
  beginning?: string;
  field?: "title" | "person";
  fact?: string;
  pattern: RegExp;
  plain?: string[];
  coarse: string;
  longest: string;
  isOpen: boolean;
  /** Whether only the text can tell that it is there: pairs of three words may occur apart, and a `_` pairs humps too. */
  needsText: boolean;
};

/** Shorter words begin too many others. */
const minBeginning = 3;

/** @param isExact whether other forms of the words are not meant; undefined for a text without words */
export function parseUnit(written: string, isExact: boolean): QueryUnit | undefined {
  const pieces = wordsAndGaps(written);
  const [first] = pieces;
  if (first === undefined) return undefined;
  const words = pieces.filter((_, place) => place % 2 === 0);
  const forms = isExact ? [] : listForms(pieces);
  const beginning = !isExact && words.length === 1 ? parseBeginning(first) : undefined;
  const texts = [pieces, ...forms];
  const plain = inOrder(texts.map((form) => form.join("").toLowerCase()));
  return {
    words: words.length,
    written,
    alternatives: texts.map(listTerms),
    ...(beginning && { beginning }),
    pattern: patternOfForms(texts, isExact),
    ...(plain.every((word) => /^[a-z\d]+$/.test(word)) && { plain }),
    coarse: texts.map((form) => coarsePattern(form.join(""))).join("|"),
    longest: words.reduce((a, b) => (b.length > a.length ? b : a)),
    isOpen: beginning !== undefined,
    needsText: words.length > 2 || (isExact && written.includes("_")),
  };
}

/** A number begins no other one, and neither does a character of a script without spaces. */
function parseBeginning(word: string): string | undefined {
  const isWhole =
    word.length < minBeginning ||
    /\d$/.test(word) ||
    /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]/u.test(word);
  return isWhole ? undefined : fold(word);
}

/** The other forms of an identifier, with `_` or as one word, or of a word (lib/search/forms.ts). */
function listForms(pieces: string[]): string[][] {
  if (pieces.some((gap, place) => place % 2 === 1 && gap !== "_")) return [];
  const parts = pieces.filter((_, place) => place % 2 === 0).flatMap(splitCompound);
  if (parts.length === 1) return formsOfWord(parts[0] as string).map((word) => [word]);
  const joined = [parts.flatMap((part, place) => (place === 0 ? [part] : ["_", part])), [parts.join("")]];
  const own = fold(pieces.join(""));
  return joined.filter((form) => fold(form.join("")) !== own);
}

/** The form as written first, in a group: it alone may end within a word. */
function patternOfForms(forms: string[][], isExact: boolean): RegExp {
  const [written, ...others] = inOrder(forms.map((form) => form.map((piece) => exactPattern(piece, isExact)).join("")));
  return new RegExp([`(${written})`, ...others].join("|"), "giu");
}

/** The form as written first; of the others the longest is tried first. */
const inOrder = ([written = "", ...others]: string[]): string[] => [
  written,
  ...others.toSorted((a, b) => b.length - a.length),
];

/** The term of a single word; of several words their pairs, which no document has without the words. */
function listTerms(pieces: string[]): number[] {
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
export const joinPatterns = (units: QueryUnit[]) => units.map(({ coarse }) => coarse).join("|");

/** The ranges of a query's units in a text: `[start, end]` in its order, not overlapping. */
export type TextRanges = [number, number][];

const maxRanges = 200;
/** Of so many places within words, as `a` has in `aaa`, none is looked at further: the unit counts as found there. */
const maxWithin = 1000;

/** What was found of units in a text: how many there are, the ranges of each, and those of all. */
export type UnitMatches = { found: number; each: TextRanges[]; readonly ranges: TextRanges };

/**
 * Finds units in a text.
 *
 * @param text as `composed` makes it.
 * @returns the ranges, at most 200 of each unit. Those of all are made when they are asked for: of most texts they are not.
 */
export function findIn(text: string, { units }: { units: QueryUnit[] }): UnitMatches {
  const lower = isAscii.test(text) ? text.toLowerCase() : undefined;
  const each = units.map((unit) => findRanges(text, unit, lower));
  const found = each.filter(({ length }) => length > 0).length;
  return {
    found,
    each,
    get ranges() {
      return joined(each);
    },
  };
}

const isAscii = /^[\0-\x7f]*$/;

function joined(each: TextRanges[]): TextRanges {
  const ranges: TextRanges = [];
  for (const range of each.flat().toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (range[0] >= (ranges.at(-1)?.[1] ?? 0)) ranges.push(range);
  }
  return ranges;
}

/** @param lower the text in lower case, where it is ASCII. */
function findRanges(text: string, unit: QueryUnit, lower: string | undefined): TextRanges {
  const next = lower !== undefined && unit.plain ? wordsIn(lower, unit.plain) : matchesIn(text, unit.pattern);
  const ranges: TextRanges = [];
  let within = 0;
  let match = next(0);
  while (match && ranges.length < maxRanges) {
    const { start, end, isWritten } = match;
    const isWhole = isBoundary(text, end);
    if (isBoundary(text, start) && (isWhole || (unit.isOpen && isWritten))) {
      ranges.push([start, isWhole ? end : endOfWord(text, end)]);
      match = next(end);
    } else if (++within >= maxWithin) return ranges.length > 0 ? ranges : [[start, end]];
    else match = next(start + 1);
  }
  return ranges;
}

/** The next match from a place on; calls go forward. */
type Next = (from: number) => { start: number; end: number; isWritten: boolean } | undefined;

function matchesIn(text: string, pattern: RegExp): Next {
  return (from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    if (!match) return undefined;
    return { start: match.index, end: match.index + match[0].length, isWritten: match[1] !== undefined };
  };
}

/** As a pattern of these words finds them, in a third of its time: texts in which all words are common are looked through for them. */
function wordsIn(lower: string, words: string[]): Next {
  const places = words.map(() => -1);
  return (from) => {
    let first = -1;
    for (let at = 0; at < words.length; at += 1) {
      let place = places[at] as number;
      if (place < from && place !== gone) {
        place = lower.indexOf(words[at] as string, from);
        if (place < 0) place = gone;
        places[at] = place;
      }
      if (place !== gone && (first < 0 || place < (places[first] as number))) first = at;
    }
    if (first < 0) return undefined;
    const start = places[first] as number;
    return { start, end: start + (words[first] as string).length, isWritten: first === 0 };
  };
}

/** The place of a word that does not follow any more. */
const gone = -2;
