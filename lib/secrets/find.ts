import { type BaseRow, baseRows, findByBase, type Stretch } from "#lib/secrets/base";
import { isRandom } from "#lib/secrets/credible";
import { beginEffort, costs, endEffort, isUnread, spend, unreadKind } from "#lib/secrets/effort";
import { escapeWords, placesWithEscapes, withoutEscapes } from "#lib/secrets/escapes";
import { Keywords } from "#lib/secrets/keywords";
import { kinds } from "#lib/secrets/kinds";
import { marks, maxMarkChars } from "#lib/secrets/mark";
import type { Place, Shape } from "#lib/secrets/shape";
import { shapes } from "#lib/secrets/shapes";
import { endOfForm, isAlnum, isOf, parseTemplate, Runs, type Template } from "#lib/secrets/template";

/** A secret in a text: its kind's id, and where it stands. */
export type Secret = Place & { certain: boolean };

/** A word that is looked for: the forms that it begins, or the shape that has it, and the rows of the base. */
type Sought = {
  word: string;
  length: number;
  forms: (Template & { kind: string })[];
  shape: Shape | undefined;
  rows: readonly BaseRow[];
  isEscape: boolean;
};
let sought: Sought[] = [];
let keywords: Keywords | undefined;

/** Made where they are needed first: it takes 25 ms, and most commands of the client look for none. */
function makeKeywords(): Keywords {
  const forms = grouped(
    kinds.flatMap(({ id, forms: own }) => own.map((form) => ({ kind: id, ...parseTemplate(form) }))),
    ({ head }) => [head],
  );
  const rows = grouped(baseRows, ({ words }) => words);
  const asSought = (word: string, shape?: Shape): Sought => {
    const one = {
      word,
      length: word.length,
      forms: shape ? [] : (forms.get(word) ?? []),
      shape,
      rows: rows.get(word) ?? [],
      isEscape: false,
    };
    // Of several that have the same word the first has the rows.
    rows.delete(word);
    return one;
  };
  const ofShapes = shapes.flatMap((shape) => shape.words.map((word) => [word, shape] as const));
  sought = [...forms.keys()].map((word) => asSought(word));
  sought.push(...ofShapes.map(([word, shape]) => asSought(word, shape)));
  sought.push(...[...rows.keys()].map((word) => asSought(word)));
  sought.push(...escapeWords.map((word) => ({ ...asSought(word), isEscape: true })));
  return new Keywords(sought.map(({ word }) => word));
}

function grouped<T>(all: readonly T[], wordsOf: (one: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) for (const word of wordsOf(one)) groups.set(word, [...(groups.get(word) ?? []), one]);
  return groups;
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
  formed: undefined as Place | undefined,
  runs: undefined as Runs | undefined,
  places: [] as Place[],
  /** Where the last place of each shape ends: what it covers is not read again. */
  foundTo: new Map<Shape, number>(),
  /** Stretches for rules of the base, and where the last one of each row ends: words in it are looked at with it. */
  stretches: [] as Stretch[],
  shownTo: new Map<BaseRow, number>(),
};

/**
 * The secrets in a text, in their order; of two that overlap the certain one, else that of the earlier kind. The time is linear
 * in the text's length, whatever it holds: what would take longer is found as not read. A text with escapes is read once more without.
 */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  reading.hasEscapes = false;
  const secrets = findIn(text);
  const plain = reading.hasEscapes ? withoutEscapes(text) : undefined;
  if (plain === undefined) return secrets;
  const more = findIn(plain);
  return more.length === 0 ? secrets : joined(secrets, placesWithEscapes(text, more));
}

/** What was found in one text in two ways: of two that overlap the one that `withoutOverlaps` would take, with all that both cover. */
function joined(secrets: Secret[], more: Secret[]): Secret[] {
  const all: Secret[] = [];
  for (const secret of [...secrets, ...more].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1);
    if (last === undefined || secret.start >= last.end) {
      all.push({ ...secret });
      continue;
    }
    const taken = rankOf(secret) < rankOf(last) ? secret : last;
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
  if (reading.stretches.length > 0) reading.stretches = [];
  if (reading.shownTo.size > 0) reading.shownTo.clear();
  keywords ??= makeKeywords();
  keywords.find(text, look);
  reading.text = "";
  const places = [...reading.places, ...endEffort()];
  const secrets = places.length === 0 ? none : withoutOverlaps(places);
  return reading.stretches.length === 0 ? secrets : withBase(text, secrets, reading.stretches);
}

/** The names that were asked about, so many at most: a session has few, again and again. */
const told = new Map<string, boolean>();
const maxTold = 5000;

/** Whether the name of a field may tell that its value is a secret, or one text of JSON that the next one is. */
export function mayTell(name: string): boolean {
  const known = told.get(name);
  if (known !== undefined) return known;
  let tells = false;
  keywords ??= makeKeywords();
  keywords.find(`"${name}":"`, (index) => {
    tells ||= sought[index]?.shape !== undefined;
  });
  if (told.size >= maxTold) told.clear();
  told.set(name, tells);
  return tells;
}

/** Secrets, and what the base finds where there is none of a certain kind among them. */
function withBase(text: string, secrets: Secret[], stretches: Stretch[]): Secret[] {
  const known = secrets.filter((secret) => secret.certain);
  let at = 0;
  const open = stretches
    .sort((a, b) => a.from - b.from)
    .filter(({ from, to }) => {
      while (at < known.length && (known[at] as Secret).end <= from) at += 1;
      return !(at < known.length && (known[at] as Secret).start < to);
    });
  if (open.length === 0) return secrets;
  const more = findByBase(text, open).filter((place) => !isMarked(text, place));
  return more.length === 0 ? secrets : withoutOverlaps([...secrets, ...more]);
}

/** Keeps the stretches that rows of the base are shown of a place where their word stands. */
function keepStretches(rows: readonly BaseRow[], start: number, end: number): void {
  for (const row of rows) {
    if (start < (reading.shownTo.get(row) ?? 0)) continue;
    const stretch = row.stretch(reading.text, start, end);
    if (!spend(stretch ? costs.look + costs.chars(stretch[1] - stretch[0]) : costs.attempt, end)) return;
    if (!stretch) continue;
    reading.stretches.push({ row, from: stretch[0], to: stretch[1] });
    reading.shownTo.set(row, stretch[1]);
  }
}

/** Looks closely at a place where a word ends. */
function look(index: number, end: number): void {
  const { word, length, forms, shape, rows, isEscape } = sought[index] as Sought;
  if (isEscape) {
    reading.hasEscapes = true;
    return;
  }
  const start = end - length;
  if (isUnread(start) && !shape?.isLinear) return;
  if (shape) lookAtShape(shape, rows, start, end);
  else if (!isInWord(reading.text, start) && reading.text.startsWith(word, start)) lookAtForms(forms, rows, start, end);
}

function lookAtShape(shape: Shape, rows: readonly BaseRow[], start: number, end: number): void {
  const { text } = reading;
  if (start < (reading.foundTo.get(shape) ?? 0)) return;
  if (!spend(costs.glance, end) || shape.mayBe?.(text, end, start) === false) return;
  if (!shape.isLinear && !spend(costs.look, end)) return;
  if (rows.length > 0) keepStretches(rows, start, end);
  const found = shape.find(text, start, end);
  if (!found) return;
  for (const place of Array.isArray(found) ? found : [found]) {
    if (isMarked(text, place)) continue;
    reading.places.push(place);
    reading.foundTo.set(shape, place.end);
  }
}

function lookAtForms(forms: Sought["forms"], rows: readonly BaseRow[], start: number, end: number): void {
  if (!spend(costs.attempt, end)) return;
  const known = reading.places.length;
  if (mayFollow(forms, reading.text, end)) findForms(forms, start, end);
  if (rows.length > 0 && reading.places.length === known) keepStretches(rows, start, end);
}

function findForms(forms: Sought["forms"], start: number, end: number): void {
  const { text } = reading;
  reading.runs ??= new Runs(text);
  if (isInBase64(text, start, reading.runs)) return;
  for (const form of forms) {
    const to = endOfForm(form, text, start, reading.runs);
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
function mayFollow(same: readonly Template[], text: string, at: number): boolean {
  for (const { parts } of same) {
    const [run, next] = parts;
    if (typeof run !== "object") return true;
    const end = at + run.min;
    if (!isOf(run.bit, text.charCodeAt(at)) || !isOf(run.bit, text.charCodeAt(end - 1))) continue;
    if (run.min < run.max || typeof next !== "string" || text.startsWith(next, end)) return true;
  }
  return false;
}

/** Whether a place and a mark overlap: what is masked is not masked again. */
function isMarked(text: string, { start, end }: Place): boolean {
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
  if (text.charCodeAt(at - 2) === backslash) return "bfnrt".includes(text.charAt(at - 1));
  const isCharacter =
    text.charCodeAt(at - 3) === percent ||
    text.charCodeAt(at - 3) === equals ||
    (text.charCodeAt(at - 4) === backslash && text.charCodeAt(at - 3) === smallX);
  if (isCharacter) return isHex(text.slice(at - 2, at));
  if (text.charCodeAt(at - 6) === backslash && text.charCodeAt(at - 5) === smallU) return isHex(text.slice(at - 4, at));
  return text.charCodeAt(at - 1) === smallM && /\[[\d;]{0,8}m$/.test(text.slice(Math.max(0, at - 10), at));
}

const isHex = (text: string): boolean => /^[\da-f]+$/i.test(text);

/** Whether a letter or digit stands before a word's first one, but for those of an escape. */
const isInWord = (text: string, at: number): boolean =>
  isAlnum(text, at - 1) && isAlnum(text, at) && !isEscape(text, at);

/** A run of Base64 of so many characters is no path. */
const imageChars = 48;

/** Whether a place is in a run of Base64, as of an image. */
function isInBase64(text: string, at: number, runs: Runs): boolean {
  const before = text.charCodeAt(at - 1);
  return (before === slash || before === plus) && runs.base64Before(at, imageChars) >= imageChars;
}

const rankOf = (secret: Secret) => (secret.certain ? 0 : kinds.length) + (rank.get(secret.kind) ?? 0);

function withoutOverlaps(places: Place[]): Secret[] {
  const secrets = places.map((place) => ({ ...place, certain: certain.has(place.kind) }));
  secrets.sort((a, b) => a.start - b.start || b.end - a.end);
  const taken: Secret[] = [];
  for (const secret of secrets) {
    const last = taken.at(-1);
    if (last === undefined || secret.start >= last.end) taken.push(secret);
    else if (last.kind === unreadKind || secret.kind === unreadKind) last.end = Math.max(last.end, secret.end);
    else if (rankOf(secret) < rankOf(last)) taken[taken.length - 1] = secret;
  }
  return taken;
}
