import { isRandom } from "#lib/secrets/credible";
import { beginEffort, costs, endEffort, isUnread, spend, unreadKind } from "#lib/secrets/effort";
import { escapeWords, restoreEscapes, removeEscapes } from "#lib/secrets/escapes";
import { KeywordSearch } from "#lib/secrets/keywords";
import { kinds } from "#lib/secrets/kinds";
import { marks, maxMarkChars } from "#lib/secrets/mark";
import type { SecretPlace, Detector } from "#lib/secrets/shape";
import { shapes } from "#lib/secrets/shapes";
import { findFormEnd, isAlnum, hasClass, parseTemplate, CharacterRuns, type TokenForm } from "#lib/secrets/template";

/** A secret in a text: its kind's id, and where it stands. */
export type Secret = SecretPlace & { certain: boolean };

/** A word that is looked for: the forms that it begins, or the shape that has it. */
type SearchWord = {
  word: string;
  length: number;
  /** Whether it has a letter of which not all is looked for. */
  isWide: boolean;
  forms: (TokenForm & { kind: string })[];
  shape: Detector | undefined;
  isEscape: boolean;
};
let sought: SearchWord[] = [];
let keywords: KeywordSearch | undefined;

/** Made where they are needed first: it takes 25 ms, and most commands of the client look for none. */
function makeKeywords(): KeywordSearch {
  const forms = new Map<string, SearchWord["forms"]>();
  for (const { id, forms: own } of kinds) {
    for (const template of own.map(parseTemplate)) {
      const same = forms.get(template.head) ?? [];
      forms.set(template.head, [...same, { kind: id, ...template }]);
    }
  }
  const toSought = (word: string, more: Partial<SearchWord> = {}): SearchWord => ({
    ...{ word, length: word.length, isWide: /[^\0-\x7f]/.test(word), forms: [], shape: undefined, isEscape: false },
    ...more,
  });
  sought = [
    ...[...forms].map(([head, own]) => toSought(head, { forms: own })),
    ...shapes.flatMap((shape) => shape.words.map((word) => toSought(word, { shape }))),
    ...escapeWords.map((word) => toSought(word, { isEscape: true })),
  ];
  return new KeywordSearch(sought.map(({ word }) => word));
}

const rank = new Map(kinds.map(({ id }, index) => [id, index]));
const certain = new Set(kinds.filter((kind) => kind.certain).map(({ id }) => id));

/** So many characters are weighed at most. */
const weighedChars = 200;

/** The shortest text with a secret is a URL: `a://:abc@b`. */
const minChars = 10;
const none: Secret[] = [];

/** The text that is being read, and what was found. One for all: there are millions, and nearly all have nothing. */
const reading = {
  text: "",
  /** Whether it may have escapes that are not read as they stand. */
  hasEscapes: false,
  /** The last secret of a form: others may begin in it. */
  formed: undefined as SecretPlace | undefined,
  runs: undefined as CharacterRuns | undefined,
  places: [] as SecretPlace[],
  /** Where the last place of each shape ends: what it covers is not read again. */
  foundTo: new Map<Detector, number>(),
};

/**
 * The secrets in a text, in their order; of two that overlap the certain one, else that of the earlier kind. The time is linear
 * in the text's length, whatever it holds: what would take longer is found as not read. A text with escapes is read once more without.
 */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  reading.hasEscapes = false;
  const secrets = findIn(text);
  const plain = reading.hasEscapes ? removeEscapes(text) : undefined;
  if (plain === undefined) return secrets;
  const more = findIn(plain);
  return more.length === 0 ? secrets : mergeSecrets(secrets, restoreEscapes(text, more));
}

/** What was found in one text in two ways: of two that overlap the one that `withoutOverlaps` would take, with all that both cover. */
function mergeSecrets(secrets: Secret[], more: Secret[]): Secret[] {
  const all: Secret[] = [];
  for (const secret of [...secrets, ...more].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1);
    if (last === undefined || secret.start >= last.end) {
      all.push({ ...secret });
      continue;
    }
    const taken = getRank(secret) < getRank(last) ? secret : last;
    all[all.length - 1] = { ...taken, start: last.start, end: Math.max(last.end, secret.end) };
  }
  return all;
}

function findIn(text: string): Secret[] {
  beginEffort(text);
  reading.text = text;
  reading.formed = undefined;
  reading.runs = undefined;
  if (reading.places.length > 0) reading.places = [];
  if (reading.foundTo.size > 0) reading.foundTo.clear();
  keywords ??= makeKeywords();
  keywords.find(text, look);
  reading.text = "";
  const places = [...reading.places, ...endEffort()];
  return places.length === 0 ? none : removeOverlaps(places);
}

/** The names that were asked about, so many at most: a session has few, again and again. */
const told = new Map<string, boolean>();
const maxTold = 5000;

/** Whether the name of a field may tell that its value is a secret, or one text of JSON that the next one is. */
export function mayNameSecret(name: string): boolean {
  const known = told.get(name);
  if (known !== undefined) return known;
  let tells = false;
  keywords ??= makeKeywords();
  const quoted = `"${name}":"`;
  keywords.find(quoted, (index, end) => {
    const shape = sought[index]?.shape;
    tells ||= shape !== undefined && shape.mayTell?.(quoted, end) !== false;
  });
  if (told.size >= maxTold) told.clear();
  told.set(name, tells);
  return tells;
}

/** Whether a short text surely holds no secret, and does not tell of one beside it, as most names and ids. */
export function hasNoKeyword(text: string): boolean {
  keywords ??= makeKeywords();
  return keywords.areMissing('"', text, '":"');
}

/** Looks closely at a place where a word ends. */
function look(index: number, end: number): void {
  const { word, length, isWide, forms, shape, isEscape } = sought[index] as SearchWord;
  if (isEscape) {
    reading.hasEscapes = true;
    return;
  }
  const start = end - length;
  if (isWide && reading.text.slice(start, end).toLowerCase() !== word) return;
  if (isUnread(start) && !shape?.isLinear) return;
  if (shape) lookAtShape(shape, start, end);
  else if (reading.text.startsWith(word, start) && !isInWord(reading.text, start)) lookAtForms(forms, start, end);
}

function lookAtShape(shape: Detector, start: number, end: number): void {
  const { text } = reading;
  if (start < (reading.foundTo.get(shape) ?? 0)) return;
  if (!spend(costs.glance, end) || shape.mayBe?.(text, end, start) === false) return;
  if (!shape.isLinear && !spend(costs.look, end)) return;
  const found = shape.find(text, start, end);
  if (!found) return;
  for (const place of Array.isArray(found) ? found : [found]) {
    if (isMarked(text, place)) continue;
    reading.places.push(place);
    reading.foundTo.set(shape, place.end);
  }
}

function lookAtForms(forms: SearchWord["forms"], start: number, end: number): void {
  if (spend(costs.attempt, end) && mayFollow(forms, reading.text, end)) findForms(forms, start, end);
}

function findForms(forms: SearchWord["forms"], start: number, end: number): void {
  const { text } = reading;
  reading.runs ??= new CharacterRuns(text);
  if (isInBase64(text, start, reading.runs)) return;
  for (const form of forms) {
    const to = findFormEnd(form, text, start, reading.runs);
    if (to === undefined) continue;
    const last = reading.formed;
    if (last && to <= last.end && form.kind === last.kind) continue;
    const rest = text.slice(end, Math.min(to, start + weighedChars));
    const isOne = isRandom(rest);
    if ((!isOne || (last && start < last.end)) && !spend(costs.chars(rest.length), end)) return;
    if (!isOne) continue;
    reading.formed = { kind: form.kind, start, end: to };
    reading.places.push(reading.formed);
  }
}

/**
 * Whether the shortest run of a form may stand there, judged by its first and last character, and by the text behind a run that
 * has one length: most beginnings are just words.
 */
function mayFollow(same: readonly TokenForm[], text: string, at: number): boolean {
  for (const { parts } of same) {
    const [run, next] = parts;
    if (typeof run !== "object") return true;
    const end = at + run.min;
    if (end > text.length) continue;
    if (!hasClass(run.bit, text.charCodeAt(at)) || !hasClass(run.bit, text.charCodeAt(end - 1))) continue;
    if (run.min < run.max || typeof next !== "string" || text.startsWith(next, end)) return true;
  }
  return false;
}

/** Whether a place and a mark overlap: what is masked is not masked again. */
function isMarked(text: string, { start, end }: SecretPlace): boolean {
  const from = Math.max(0, start - maxMarkChars);
  const around = text.slice(from, end + maxMarkChars);
  if (!around.includes("[redacted:")) return false;
  return [...around.matchAll(marks)].some(
    ({ index, 0: mark }) => from + index < end && from + index + mark.length > start,
  );
}

const [slash, plus] = [0x2f, 0x2b];
const [backslash, percent, equals, smallM, smallU, smallX] = [0x5c, 0x25, 0x3d, 0x6d, 0x75, 0x78];

/** Whether an escape ends at a place: of a line end, of a character (in JSON, JavaScript, URLs and mails), or of a terminal's colour. */
function isEscape(text: string, at: number): boolean {
  if (codeAt(text, at - 2) === backslash) return "bfnrt".includes(text.charAt(at - 1));
  const third = codeAt(text, at - 3);
  if (third === percent || third === equals || (third === smallX && codeAt(text, at - 4) === backslash))
    return isHex(text.slice(at - 2, at));
  if (codeAt(text, at - 5) === smallU && codeAt(text, at - 6) === backslash) return isHex(text.slice(at - 4, at));
  return codeAt(text, at - 1) === smallM && /\[[\d;]{0,8}m$/.test(text.slice(Math.max(0, at - 10), at));
}

/** A character's code, or 0 before a text: V8 compiles a function again once it has read beyond one. */
const codeAt = (text: string, at: number): number => (at < 0 ? 0 : text.charCodeAt(at));

const isHex = (text: string): boolean => /^[\da-f]+$/i.test(text);

/** Whether a letter or digit stands before a word's first one, but for those of an escape. */
const isInWord = (text: string, at: number): boolean =>
  isAlnum(text, at - 1) && isAlnum(text, at) && !isEscape(text, at);

/** A run of Base64 of so many characters is no path. */
const imageChars = 48;

/** Whether a place is in a run of Base64, as of an image. */
function isInBase64(text: string, at: number, runs: CharacterRuns): boolean {
  const before = text.charCodeAt(at - 1);
  return (before === slash || before === plus) && runs.base64Before(at, imageChars) >= imageChars;
}

const getRank = (secret: Secret) => (secret.certain ? 0 : kinds.length) + (rank.get(secret.kind) ?? 0);

function removeOverlaps(places: SecretPlace[]): Secret[] {
  const secrets = places.map((place) => ({ ...place, certain: certain.has(place.kind) }));
  secrets.sort((a, b) => a.start - b.start || b.end - a.end);
  const taken: Secret[] = [];
  for (const secret of secrets) {
    const last = taken.at(-1);
    if (last === undefined || secret.start >= last.end) taken.push(secret);
    else if (last.kind === unreadKind || secret.kind === unreadKind) last.end = Math.max(last.end, secret.end);
    else if (getRank(secret) < getRank(last)) taken[taken.length - 1] = secret;
  }
  return taken;
}
