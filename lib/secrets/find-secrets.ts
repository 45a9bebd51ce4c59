import { commandPasswords } from "#lib/secrets/command-passwords";
import { isRandom } from "#lib/secrets/credible";
import type { Detector, SecretPlace } from "#lib/secrets/detector";
import { beginEffort, costs, endEffort, isUnread, spend, unreadKind } from "#lib/secrets/effort";
import { escapeWords, removeEscapes, restoreEscapes } from "#lib/secrets/escapes";
import { headers } from "#lib/secrets/headers";
import { KeywordSearch } from "#lib/secrets/keywords";
import { kinds, marks, maxMarkChars } from "#lib/secrets/kinds";
import { namedValues } from "#lib/secrets/named-values";
import { privateKeys } from "#lib/secrets/private-keys";
import { serviceTokens } from "#lib/secrets/service-tokens";
import { settingValues } from "#lib/secrets/setting-values";
import { tableCells } from "#lib/secrets/table-cells";
import {
  CharacterRuns,
  findFormEnd,
  hasClass,
  isAlnum,
  parseTokenForm,
  type TokenForm,
} from "#lib/secrets/token-forms";
import { toldPasswords } from "#lib/secrets/told-passwords";
import { urlPasswords } from "#lib/secrets/url-passwords";

const detectors: readonly Detector[] = [
  ...privateKeys,
  ...urlPasswords,
  ...headers,
  ...namedValues,
  ...commandPasswords,
  ...settingValues,
  ...serviceTokens,
  ...tableCells,
  ...toldPasswords,
];

export type Secret = SecretPlace & { certain: boolean };

type SearchWord = {
  word: string;
  length: number;
  /** Of some letters only the lower byte is searched. */
  isWide: boolean;
  forms: (TokenForm & { kind: string })[];
  detector: Detector | undefined;
  isEscape: boolean;
};
let searchWords: SearchWord[] = [];
let keywords: KeywordSearch | undefined;

/** Takes 25 ms, so it is called on the first use: most commands of the client search nothing. */
function makeKeywords(): KeywordSearch {
  const forms = new Map<string, SearchWord["forms"]>();
  for (const { id, forms: own } of kinds) {
    for (const form of own.map(parseTokenForm)) {
      forms.set(form.head, [...(forms.get(form.head) ?? []), { kind: id, ...form }]);
    }
  }
  const toSearchWord = (word: string, more: Partial<SearchWord>): SearchWord => ({
    ...{ word, length: word.length, isWide: /[^\0-\x7f]/.test(word), forms: [], detector: undefined, isEscape: false },
    ...more,
  });
  searchWords = [
    ...[...forms].map(([head, own]) => toSearchWord(head, { forms: own })),
    ...detectors.flatMap((detector) => detector.words.map((word) => toSearchWord(word, { detector }))),
    ...escapeWords.map((word) => toSearchWord(word, { isEscape: true })),
  ];
  return new KeywordSearch(searchWords.map(({ word }) => word));
}

const rank = new Map(kinds.map(({ id }, index) => [id, index]));
const certain = new Set(kinds.filter((kind) => kind.certain).map(({ id }) => id));
const weighedChars = 200;
/** `a://:abc@b` */
const minChars = 10;
const none: Secret[] = [];

/** One for all texts, of which there are millions, and nearly all have no secret. */
const search = {
  text: "",
  hasEscapes: false,
  /** The last token that was found by its form; others may begin inside it. */
  lastToken: undefined as SecretPlace | undefined,
  runs: undefined as CharacterRuns | undefined,
  places: [] as SecretPlace[],
  /** The end of each detector's last place, inside which it does not look again. */
  foundTo: new Map<Detector, number>(),
};

/** Finds the secrets of a text in linear time, in their order, without overlaps; lines that would take too long are `unread`. */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  search.hasEscapes = false;
  const secrets = searchText(text);
  const plain = search.hasEscapes ? removeEscapes(text) : undefined;
  if (plain === undefined) return secrets;
  const more = searchText(plain);
  return more.length === 0 ? secrets : mergeSecrets(secrets, restoreEscapes(text, more));
}

/** Of two secrets that overlap the preferred one stays, and covers both. */
function mergeSecrets(secrets: Secret[], more: Secret[]): Secret[] {
  const all: Secret[] = [];
  for (const secret of [...secrets, ...more].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1);
    if (last === undefined || secret.start >= last.end) {
      all.push({ ...secret });
      continue;
    }
    const preferred = getRank(secret) < getRank(last) ? secret : last;
    all[all.length - 1] = { ...preferred, start: last.start, end: Math.max(last.end, secret.end) };
  }
  return all;
}

function searchText(text: string): Secret[] {
  beginEffort(text);
  search.text = text;
  search.lastToken = undefined;
  search.runs = undefined;
  if (search.places.length > 0) search.places = [];
  if (search.foundTo.size > 0) search.foundTo.clear();
  keywords ??= makeKeywords();
  keywords.find(text, look);
  search.text = "";
  const places = [...search.places, ...endEffort()];
  return places.length === 0 ? none : removeOverlaps(places);
}

/** A session repeats few names again and again. */
const nameSecrets = new Map<string, boolean>();
const maxRememberedNames = 5000;

/** True for a field's name, or a text before another one, that may name a secret. */
export function mayNameSecret(name: string): boolean {
  const known = nameSecrets.get(name);
  if (known !== undefined) return known;
  let isName = false;
  keywords ??= makeKeywords();
  const quoted = `"${name}":"`;
  keywords.find(quoted, (index, end) => {
    const detector = searchWords[index]?.detector;
    isName ||= detector !== undefined && detector.mayNameSecret?.(quoted, end) !== false;
  });
  if (nameSecrets.size >= maxRememberedNames) nameSecrets.clear();
  nameSecrets.set(name, isName);
  return isName;
}

/** True for a text, as most names and ids, that neither contains nor names a secret. */
export function hasNoKeyword(text: string): boolean {
  keywords ??= makeKeywords();
  return keywords.areMissing('"', text, '":"');
}

/** @param end of the word that was found */
function look(index: number, end: number): void {
  const { word, length, isWide, forms, detector, isEscape } = searchWords[index] as SearchWord;
  if (isEscape) {
    search.hasEscapes = true;
    return;
  }
  const start = end - length;
  if (isWide && search.text.slice(start, end).toLowerCase() !== word) return;
  if (isUnread(start) && !detector?.isLinear) return;
  if (detector) detect(detector, start, end);
  else if (search.text.startsWith(word, start) && !isInsideWord(search.text, start)) {
    if (spend(costs.attempt, end) && mayHaveForm(forms, search.text, end)) findTokens(forms, start, end);
  }
}

function detect(detector: Detector, start: number, end: number): void {
  const { text } = search;
  if (start < (search.foundTo.get(detector) ?? 0)) return;
  if (!spend(costs.glance, end) || detector.mayBe?.(text, end, start) === false) return;
  if (!detector.isLinear && !spend(costs.look, end)) return;
  const found = detector.find(text, start, end);
  if (!found) return;
  for (const place of Array.isArray(found) ? found : [found]) {
    if (isMarked(text, place)) continue;
    search.places.push(place);
    search.foundTo.set(detector, place.end);
  }
}

function findTokens(forms: SearchWord["forms"], start: number, end: number): void {
  const { text } = search;
  search.runs ??= new CharacterRuns(text);
  if (isInBase64(text, start, search.runs)) return;
  for (const form of forms) {
    const to = findFormEnd(form, text, start, search.runs);
    if (to === undefined) continue;
    const last = search.lastToken;
    if (last && to <= last.end && form.kind === last.kind) continue;
    const rest = text.slice(end, Math.min(to, start + weighedChars));
    const isToken = isRandom(rest);
    if ((!isToken || (last && start < last.end)) && !spend(costs.chars(rest.length), end)) return;
    if (!isToken) continue;
    search.lastToken = { kind: form.kind, start, end: to };
    search.places.push(search.lastToken);
  }
}

/** Rejects most beginnings, which are words, by the ends of a form's shortest run and by the text after a run of fixed length. */
function mayHaveForm(forms: readonly TokenForm[], text: string, at: number): boolean {
  for (const { parts } of forms) {
    const [run, next] = parts;
    if (typeof run !== "object") return true;
    const end = at + run.min;
    if (end > text.length) continue;
    if (!hasClass(run.bit, text.charCodeAt(at)) || !hasClass(run.bit, text.charCodeAt(end - 1))) continue;
    if (run.min < run.max || typeof next !== "string" || text.startsWith(next, end)) return true;
  }
  return false;
}

/** True for a place that overlaps a mark: what is masked is not masked again. */
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

/** True after an escape of a line end, of a character (in JSON, JavaScript, URLs and mails), or of a terminal's colour. */
function isAfterEscape(text: string, at: number): boolean {
  if (codeAt(text, at - 2) === backslash) return "bfnrt".includes(text.charAt(at - 1));
  const third = codeAt(text, at - 3);
  if (third === percent || third === equals || (third === smallX && codeAt(text, at - 4) === backslash))
    return isHex(text.slice(at - 2, at));
  if (codeAt(text, at - 5) === smallU && codeAt(text, at - 6) === backslash) return isHex(text.slice(at - 4, at));
  return codeAt(text, at - 1) === smallM && /\[[\d;]{0,8}m$/.test(text.slice(Math.max(0, at - 10), at));
}

/** V8 compiles a function again once it has read beyond a text. */
const codeAt = (text: string, at: number): number => (at < 0 ? 0 : text.charCodeAt(at));

const isHex = (text: string): boolean => /^[\da-f]+$/i.test(text);

const isInsideWord = (text: string, at: number): boolean =>
  isAlnum(text, at - 1) && isAlnum(text, at) && !isAfterEscape(text, at);

/** A longer run of Base64 is not a path. */
const maxPathChars = 48;

/** True inside a run of Base64, as of an image. */
function isInBase64(text: string, at: number, runs: CharacterRuns): boolean {
  const before = text.charCodeAt(at - 1);
  return (before === slash || before === plus) && runs.countBase64Before(at, maxPathChars) >= maxPathChars;
}

const getRank = (secret: Secret) => (secret.certain ? 0 : kinds.length) + (rank.get(secret.kind) ?? 0);

/** Of two that overlap the certain one stays, otherwise that of the earlier kind. */
function removeOverlaps(places: SecretPlace[]): Secret[] {
  const secrets = places.map((place) => ({ ...place, certain: certain.has(place.kind) }));
  secrets.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Secret[] = [];
  for (const secret of secrets) {
    const last = kept.at(-1);
    if (last === undefined || secret.start >= last.end) kept.push(secret);
    else if (last.kind === unreadKind || secret.kind === unreadKind) last.end = Math.max(last.end, secret.end);
    else if (getRank(secret) < getRank(last)) kept[kept.length - 1] = secret;
  }
  return kept;
}
