import { commandPasswords } from "#common/secrets/detectors/command-passwords";
import type { Detector, SecretPlace } from "#common/secrets/detectors/detector";
import { headers } from "#common/secrets/detectors/headers";
import { namedValues } from "#common/secrets/detectors/named-values";
import { privateKeys } from "#common/secrets/detectors/private-keys";
import { serviceTokens } from "#common/secrets/detectors/service-tokens";
import { settingValues } from "#common/secrets/detectors/setting-values";
import { tableCells } from "#common/secrets/detectors/table-cells";
import { forgetRuns, makeTokenDetectors } from "#common/secrets/detectors/token-forms";
import { toldPasswords } from "#common/secrets/detectors/told-passwords";
import { urlPasswords } from "#common/secrets/detectors/url-passwords";
import { beginEffort, costs, endEffort, isUnread, spend, unreadKind } from "#common/secrets/effort";
import { escapeWords, removeEscapes, restoreEscapes } from "#common/secrets/escapes";
import { KeywordSearch } from "#common/secrets/keywords";
import { kinds, marks, maxMarkChars } from "#common/secrets/kinds";

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
  /** The search compares only the lower byte of some letters. */
  isWide: boolean;
  detector: Detector | undefined;
};
let searchWords: SearchWord[] = [];
let keywords: KeywordSearch | undefined;

/** Called on the first use, since it takes 25 ms and most commands of the client search nothing. */
function makeKeywords(): KeywordSearch {
  const toSearchWord = (word: string, detector?: Detector): SearchWord => ({
    ...{ word, length: word.length, isWide: /[^\0-\x7f]/.test(word), detector },
  });
  searchWords = [
    ...[...makeTokenDetectors(), ...detectors].flatMap((one) => one.words.map((word) => toSearchWord(word, one))),
    ...escapeWords.map((word) => toSearchWord(word)),
  ];
  return new KeywordSearch(searchWords.map(({ word }) => word));
}

const rank = new Map(kinds.map(({ id }, index) => [id, index]));
const certain = new Set(kinds.filter((kind) => kind.certain).map(({ id }) => id));
/** `a://:abc@b` */
const minChars = 10;
const none: Secret[] = [];

/** All texts share it, since most of the millions of texts have no secret. */
const search = {
  text: "",
  hasEscapes: false,
  places: [] as SecretPlace[],
  /** The end of each detector's last place; it does not search inside again. */
  foundTo: new Map<Detector, number>(),
};

/** Lines that would take too long are `unread`. */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  search.hasEscapes = false;
  const secrets = searchText(text);
  const plain = search.hasEscapes ? removeEscapes(text) : undefined;
  if (plain === undefined) return secrets;
  const more = searchText(plain);
  return more.length === 0 ? secrets : mergeSecrets(secrets, restoreEscapes(text, more));
}

/** The preferred one of two overlapping secrets stays, and covers both. */
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
  forgetRuns();
  search.text = text;
  if (search.places.length > 0) search.places = [];
  if (search.foundTo.size > 0) search.foundTo.clear();
  keywords ??= makeKeywords();
  keywords.find(text, look);
  search.text = "";
  const places = [...search.places, ...endEffort()];
  return places.length === 0 ? none : removeOverlaps(places);
}

const nameSecrets = new Map<string, boolean>();
const maxRememberedNames = 5000;

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

export function hasNoKeyword(text: string): boolean {
  keywords ??= makeKeywords();
  return keywords.areMissing('"', text, '":"');
}

function look(index: number, end: number): void {
  const { word, length, isWide, detector } = searchWords[index] as SearchWord;
  if (!detector) {
    search.hasEscapes = true;
    return;
  }
  const start = end - length;
  if (isWide && search.text.slice(start, end).toLowerCase() !== word) return;
  if (!isUnread(start) || detector.isLinear) detect(detector, start, end);
}

function detect(detector: Detector, start: number, end: number): void {
  const { text } = search;
  if (start < (search.foundTo.get(detector) ?? 0)) return;
  if (!spend(costs.glance, end) || detector.mayBe?.(text, end, start) === false) return;
  if (!detector.isLinear && !spend(detector.cost ?? costs.look, end)) return;
  const found = detector.find(text, start, end);
  if (!found) return;
  for (const place of Array.isArray(found) ? found : [found]) {
    if (isMarked(text, place)) continue;
    search.places.push(place);
    search.foundTo.set(detector, place.end);
  }
}

function isMarked(text: string, { start, end }: SecretPlace): boolean {
  const from = Math.max(0, start - maxMarkChars);
  const around = text.slice(from, end + maxMarkChars);
  if (!around.includes("[redacted:")) return false;
  return [...around.matchAll(marks)].some(
    ({ index, 0: mark }) => from + index < end && from + index + mark.length > start,
  );
}

const getRank = (secret: Secret) => (secret.certain ? 0 : kinds.length) + (rank.get(secret.kind) ?? 0);

/** The certain one of two overlapping secrets stays, otherwise that of the earlier kind. */
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
