// A term is a 40-bit hash of a word, of a part of a camelCase word, or of two adjacent words with their gap: pairs find
// phrases, identifiers and paths. Parts of camelCase words pair as if joined by `_`, so `tags_re` finds `xmlTagsRe`. In
// scripts without spaces, each character is a word.

const other = 0;
const space = 1;
const letter = 2;
const single = 3;

export const termBits = 40;

const wordCharacter = /[[\p{L}\p{N}\p{M}]--\p{Variation_Selector}]/v;
// Each half of a surrogate pair is a word, since emoji and rare Chinese characters adjoin words without a space.
const surrogate = /\p{Cs}/u;
const spaceless = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
/** Code units that `composed` joins with the preceding letter, including parts of Korean syllables. */
export const combining = /[\u0300-\u036f\u1100-\u11ff\u3099\u309a]/;
const quotes: Record<string, string> = { "‘": "'", "’": "'", "“": '"', "”": '"' };

/** `folded` is lower case, with straight quotes. */
const { kinds, folded } = makeTables();

function makeTables() {
  const kinds = new Uint8Array(65_536);
  const folded = new Uint16Array(65_536);
  for (let code = 0; code < 65_536; code += 1) {
    const character = String.fromCharCode(code);
    const lower = quotes[character] ?? character.toLowerCase();
    folded[code] = lower.length === 1 ? lower.charCodeAt(0) : code;
    if (surrogate.test(character)) kinds[code] = single;
    else if (wordCharacter.test(character)) kinds[code] = spaceless.test(character) ? single : letter;
    else if (/\s/.test(character)) kinds[code] = space;
  }
  return { kinds, folded };
}

const kindAt = (text: string, at: number) => kinds[text.charCodeAt(at)] as number;
const isUpper = (code: number) => folded[code] !== code;

/**
 * More combining marks than any letter has (UAX #15, section 13, allows thirty). Ordering them is quadratic and cannot
 * be interrupted.
 */
const longRun = /(\p{M}{32,})/u;

export function composed(text: string): string {
  if (!combining.test(text)) return text;
  if (!longRun.test(text)) return text.normalize("NFC");
  return text
    .split(longRun)
    .map((part, index) => (index % 2 === 1 ? part : part.normalize("NFC")))
    .join("");
}

/** The final step of MurmurHash3 (Austin Appleby, public domain). */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

const seeds = [0x811c9dc5, 0x2545f491] as const;
const primes = [0x01000193, 0x5bd1e995] as const;

const makeTerm = (first: number, second: number) => (mix(first) >>> 0) * 256 + (mix(second) & 255);

/** The gap of `_`. */
const joint = Math.imul(95, primes[0]) + 1;

const fields = { any: 0, title: 0x2545f49123, person: 0x9e3779b97f } as const;
export type Field = keyof typeof fields;

/** Every term is in `any` as well. */
export const inField = (term: number, field: Field) => (term + fields[field]) % 2 ** termBits;

export function hashFact(fact: string): number {
  let [first, second]: [number, number] = [seeds[1], seeds[0]];
  for (const character of fact.toLowerCase()) {
    const code = character.codePointAt(0) as number;
    first = Math.imul(first ^ code, primes[0]);
    second = Math.imul(second ^ code, primes[1]) + 1;
  }
  return makeTerm(first, second);
}

export function hashWord(word: string): number {
  return makeTerm(...hashText(word, 0, word.length));
}

function hashText(text: string, start: number, end: number): [number, number] {
  let [first, second]: [number, number] = [...seeds];
  for (let at = start; at < end; at += 1) {
    const lower = folded[text.charCodeAt(at)] as number;
    first = Math.imul(first ^ lower, primes[0]);
    second = Math.imul(second ^ lower, primes[1]) + 1;
  }
  return [first, second];
}

/** `start` and `end` are given for words and their parts. */
export type Visit = (term: number, start?: number, end?: number) => void;

type Scan = { at: number; previous: number; between: number };

export const beginScan = (): Scan => ({ at: 0, previous: 0, between: 0 });

/**
 * @param text as `composed` returns it
 * @param options.parts false in queries, so that `getUser` matches only itself
 */
export function forEachTerm(text: string, visit: Visit, { parts = true } = {}): void {
  scanTerms(text, beginScan(), text.length, visit, parts);
}

export function scanTerms(text: string, scan: Scan, until: number, visit: Visit, parts = true): void {
  const { length } = text;
  let { at, previous, between } = scan;
  while (at < until) {
    const kind = kindAt(text, at);
    if (kind < letter) {
      if (kind === other) between = Math.imul(between ^ (folded[text.charCodeAt(at)] as number), primes[0]) + 1;
      else if (at === 0 || kindAt(text, at - 1) !== space) between = Math.imul(between ^ 32, primes[0]) + 1;
      at += 1;
      continue;
    }
    const start = at;
    let [first, second]: [number, number] = [...seeds];
    let mixedCase = false;
    do {
      const code = text.charCodeAt(at);
      const lower = folded[code] as number;
      if (lower !== code && at > start) mixedCase = true;
      first = Math.imul(first ^ lower, primes[0]);
      second = Math.imul(second ^ lower, primes[1]) + 1;
      at += 1;
    } while (kind === letter && at < length && kindAt(text, at) === letter);
    visit(makeTerm(first, second), start, at);
    const word = mix(first ^ second) | 1;
    if (previous !== 0) visit(hashPair(previous, between, word));
    if (parts && mixedCase) forEachPart(text, start, at, visit);
    previous = word;
    between = 0;
  }
  scan.at = at;
  scan.previous = previous;
  scan.between = between;
}

function hashPair(previous: number, between: number, word: number): number {
  const first = Math.imul(Math.imul(previous, primes[0]) ^ between, primes[1]) ^ word;
  return makeTerm(first, Math.imul(word, primes[0]) ^ previous ^ between);
}

/** Such words with a digit are random (Base64 averages 2.9); their parts would be most of the terms. */
const random = { length: 24, partLength: 3.5 };

const isDigit = (code: number) => code >= 48 && code <= 57;

function isRandom(text: string, start: number, end: number): boolean {
  const length = end - start;
  if (length <= random.length) return false;
  let parts = 1;
  let hasDigit = isDigit(text.charCodeAt(start));
  for (let at = start + 1; at < end; at += 1) {
    if (isHump(text, at)) parts += 1;
    hasDigit ||= isDigit(text.charCodeAt(at));
  }
  return hasDigit && length < parts * random.partLength;
}

function forEachPart(text: string, start: number, end: number, visit: Visit): void {
  if (isRandom(text, start, end)) return;
  let from = start;
  let previous = 0;
  for (let at = start + 1; at <= end; at += 1) {
    if (at < end && !isHump(text, at)) continue;
    if (at - from === end - start) return;
    const [first, second] = hashText(text, from, at);
    visit(makeTerm(first, second), from, at);
    const part = mix(first ^ second) | 1;
    if (previous !== 0) visit(hashPair(previous, joint, part));
    previous = part;
    from = at;
  }
}

export function splitCompound(word: string): string[] {
  const humps = Array.from(word, (_, at) => at).filter((at) => at > 0 && isHump(word, at));
  return [0, ...humps].map((from, place) => word.slice(from, humps[place]));
}

export const foldedCode = (code: number): number => folded[code] as number;

export function fold(text: string): string {
  if (!/[^ -~]/.test(text)) return text.toLowerCase();
  let result = "";
  for (let at = 0; at < text.length; at += 1) result += String.fromCharCode(folded[text.charCodeAt(at)] as number);
  return result;
}

/** `getUser`, `HTTPServer`. */
function isHump(text: string, at: number): boolean {
  if (!isUpper(text.charCodeAt(at))) return false;
  if (!isUpper(text.charCodeAt(at - 1))) return true;
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0;
  return kinds[next] === letter && !isUpper(next);
}

export function isBoundary(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  return kindAt(text, at - 1) !== letter || kindAt(text, at) !== letter || isHump(text, at);
}

export function findWordEnd(text: string, at: number): number {
  let end = at;
  while (end > 0 && end < text.length && kindAt(text, end - 1) === letter && kindAt(text, end) === letter) end += 1;
  return end;
}

/** Alternates between words and gaps; starts and ends with a word. */
export function wordsAndGaps(text: string): string[] {
  const pieces: string[] = [];
  let gap = "";
  for (let at = 0; at < text.length; ) {
    const start = at;
    const kind = kindAt(text, at);
    do at += 1;
    while (kind === letter && at < text.length && kindAt(text, at) === letter);
    const piece = text.slice(start, at);
    if (kind < letter) gap += piece;
    else {
      if (pieces.length > 0) pieces.push(gap);
      pieces.push(piece);
      gap = "";
    }
  }
  return pieces;
}
