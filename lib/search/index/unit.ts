import { escapePattern } from "#common/escape-pattern";
import {
  combining,
  findWordEnd,
  fold,
  forEachTerm,
  hashWord,
  isBoundary,
  splitCompound,
  wordsAndGaps,
} from "#lib/search/index/terms";

function listWordForms(word: string): string[] {
  if (!/^[a-z]{3,}$/i.test(word)) return [];
  const lower = word.toLowerCase();
  return [...new Set([...listNumberForms(lower), ...listEndings(lower)])];
}

function listNumberForms(word: string): string[] {
  if (/(?:ss|us|is)$/.test(word)) return [`${word}es`];
  if (/[^aeiou]ies$/.test(word)) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith("s")) return word.length > 3 ? [word.slice(0, -1)] : [];
  if (/[^aeiou]y$/.test(word)) return [`${word.slice(0, -1)}ies`];
  return [/(?:x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`];
}

/** A stem has three letters with a vowel and no `-eed`. */
function listEndings(word: string): string[] {
  const [, stem = "", ending = ""] = /^(.*[aeiouy].*)(ing|ed)$/.exec(word) ?? [];
  if (stem.length < 3) return /[^aeiou]e$/.test(word) && word.length > 4 ? [`${word.slice(0, -1)}ing`] : [];
  if (stem.endsWith("e")) return [];
  const single = /([^aeiousl])\1$/.test(stem) ? [stem.slice(0, -1)] : [];
  return [...single, stem, `${stem}e`, `${stem}${ending === "ing" ? "ed" : "ing"}`];
}

/**
 * `coarse` is a PostgreSQL regular expression that finds all that `pattern` finds in lower case. A match may end within a
 * word if `isOpen`. `fact` is a property of the message.
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
  /** Pairs of three words may occur apart, and `_` also pairs camelCase parts. */
  needsText: boolean;
};

/** Shorter words begin too many others. */
const minBeginning = 3;

/** @param isExact excludes other forms; undefined for a text without words */
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
    pattern: makeFormsPattern(texts, isExact),
    ...(plain.every((word) => /^[a-z\d]+$/.test(word)) && { plain }),
    coarse: texts.map((form) => coarsePattern(form.join(""))).join("|"),
    longest: words.reduce((a, b) => (b.length > a.length ? b : a)),
    isOpen: beginning !== undefined,
    needsText: words.length > 2 || (isExact && written.includes("_")),
  };
}

/** Undefined for numbers and characters of scripts without spaces. */
function parseBeginning(word: string): string | undefined {
  const isWhole =
    word.length < minBeginning ||
    /\d$/.test(word) ||
    /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]/u.test(word);
  return isWhole ? undefined : fold(word);
}

function listForms(pieces: string[]): string[][] {
  if (pieces.some((gap, place) => place % 2 === 1 && gap !== "_")) return [];
  const parts = pieces.filter((_, place) => place % 2 === 0).flatMap(splitCompound);
  if (parts.length === 1) return listWordForms(parts[0] as string).map((word) => [word]);
  const joined = [parts.flatMap((part, place) => (place === 0 ? [part] : ["_", part])), [parts.join("")]];
  const own = fold(pieces.join(""));
  return joined.filter((form) => fold(form.join("")) !== own);
}

function makeFormsPattern(forms: string[][], isExact: boolean): RegExp {
  const [written, ...others] = inOrder(forms.map((form) => form.map((piece) => exactPattern(piece, isExact)).join("")));
  return new RegExp([`(${written})`, ...others].join("|"), "giu");
}

const inOrder = ([written = "", ...others]: string[]): string[] => [
  written,
  ...others.toSorted((a, b) => b.length - a.length),
];

/** Pairs suffice for several words, since no document has them without the words. */
function listTerms(pieces: string[]): number[] {
  if (pieces.length === 1) return [hashWord(pieces[0] as string)];
  const terms: number[] = [];
  forEachTerm(pieces.join(""), (term) => terms.push(term), { parts: false });
  // The order is word, word, pair, word, pair, …
  return terms.filter((_, place) => place >= 2 && place % 2 === 0);
}

/** A straight quote matches a curly one, and `_` also nothing, as in `xmlTags`. */
function exactPattern(piece: string, isExact: boolean): string {
  if (piece === "_" && !isExact) return "_?";
  return piece
    .split(/(\s+|['‘’])/)
    .map((part) => (/^\s/.test(part) ? "\\s+" : /^['‘’]/.test(part) ? "['‘’]" : escapePattern(part)))
    .join("");
}

/** Must work in any locale: C folds only ASCII and knows no other white space. */
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
  // Decomposed, an accented letter or a syllable is two or three characters.
  return character.normalize("NFD") === character ? single : `(?:${single}|.${combining.source}{1,2})`;
}

export const joinPatterns = (units: QueryUnit[]) => units.map(({ coarse }) => coarse).join("|");

export type TextRanges = [number, number][];

const maxRanges = 200;
/** After this many occurrences within words, such as `a` in `aaa`, the unit counts as found. */
const maxWithin = 1000;

export type UnitMatches = { found: number; each: TextRanges[]; readonly ranges: TextRanges };

/**
 * @param text as `composed` returns it
 * @returns at most 200 ranges per unit
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

function findRanges(text: string, unit: QueryUnit, lower: string | undefined): TextRanges {
  const next = lower !== undefined && unit.plain ? wordsIn(lower, unit.plain) : matchesIn(text, unit.pattern);
  const ranges: TextRanges = [];
  let within = 0;
  let match = next(0);
  while (match && ranges.length < maxRanges) {
    const { start, end, isWritten } = match;
    const isWhole = isBoundary(text, end);
    if (isBoundary(text, start) && (isWhole || (unit.isOpen && isWritten))) {
      ranges.push([start, isWhole ? end : findWordEnd(text, end)]);
      match = next(end);
    } else if (++within >= maxWithin) return ranges.length > 0 ? ranges : [[start, end]];
    else match = next(start + 1);
  }
  return ranges;
}

type Next = (from: number) => { start: number; end: number; isWritten: boolean } | undefined;

function matchesIn(text: string, pattern: RegExp): Next {
  return (from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    if (!match) return undefined;
    return { start: match.index, end: match.index + match[0].length, isWritten: match[1] !== undefined };
  };
}

/** Three times as fast as the pattern. */
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

const gone = -2;
