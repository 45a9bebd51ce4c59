import { type BaseRow, baseRows, findByBase, type Stretch } from "#lib/secrets/base";
import { isRandom } from "#lib/secrets/credible";
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
    };
    // Of several that have the same word the first has the rows.
    rows.delete(word);
    return one;
  };
  const ofShapes = shapes.flatMap((shape) => shape.words.map((word) => [word, shape] as const));
  sought = [...forms.keys()].map((word) => asSought(word));
  sought.push(...ofShapes.map(([word, shape]) => asSought(word, shape)));
  sought.push(...[...rows.keys()].map((word) => asSought(word)));
  return new Keywords(sought.map(({ word }) => word));
}

function grouped<T>(all: readonly T[], wordsOf: (one: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) for (const word of wordsOf(one)) groups.set(word, [...(groups.get(word) ?? []), one]);
  return groups;
}

const rank = new Map(kinds.map(({ id }, index) => [id, index]));
const certain = new Set(kinds.filter((kind) => kind.certain).map(({ id }) => id));

/**
 * How often a text's words are looked at: so often at once, and once more for so many characters. Beginnings of forms are tried,
 * and what fits is weighed, whose characters count where it is none; other words are glanced at, in a few steps, and then looked at
 * closely. Only text that is made to take long has more.
 */
const weighings = { atOnce: 50_000, charsEach: 2 };
const tries = { atOnce: 20_000, charsEach: 32 };
const glances = { atOnce: 10_000, charsEach: 10 };
const looks = { atOnce: 2000, charsEach: 1000 };
/**
 * How many characters of stretches are kept for the base, and how many of those are shown to its rules; keeping one, and calling a
 * rule, takes as long as so many characters more.
 */
const kept = { atOnce: 50_000, charsEach: 25 };
const shown = { atOnce: 12_000, charsEach: 100 };
const [keepingChars, callingChars] = [30, 100];

/** So many characters are weighed at most, and so many more would take as long as it takes to begin. */
const [weighedChars, weighingChars] = [200, 60];

const isWithin = (done: number, budget: typeof looks, end: number): boolean =>
  done <= budget.atOnce + end / budget.charsEach;

/** The shortest text with a secret is a URL: `a://:abc@b`. */
const minChars = 10;
const none: Secret[] = [];

/** The text that is being read, and what was found. One for all: there are millions, and nearly all have nothing. */
const reading = {
  text: "",
  tried: 0,
  weighed: 0,
  /** The last secret of a form: others may begin in it. */
  formed: undefined as Place | undefined,
  glanced: 0,
  looked: 0,
  runs: undefined as Runs | undefined,
  places: [] as Place[],
  /** Where the last place of each shape ends: what it covers is not read again. */
  foundTo: new Map<Shape, number>(),
  /** Stretches for rules of the base, and where the last one of each row ends: words in it are looked at with it. */
  kept: 0,
  stretches: [] as Stretch[],
  shownTo: new Map<BaseRow, number>(),
};

/**
 * The secrets in a text, in their order; of two that overlap the certain one, else that of the earlier kind. The time is linear
 * in the text's length, whatever it holds.
 */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  reading.text = text;
  reading.tried = 0;
  reading.weighed = 0;
  reading.formed = undefined;
  reading.glanced = 0;
  reading.looked = 0;
  reading.runs = undefined;
  if (reading.places.length > 0) reading.places = [];
  if (reading.foundTo.size > 0) reading.foundTo.clear();
  reading.kept = 0;
  if (reading.stretches.length > 0) reading.stretches = [];
  if (reading.shownTo.size > 0) reading.shownTo.clear();
  keywords ??= makeKeywords();
  keywords.find(text, look);
  reading.text = "";
  const secrets = reading.places.length === 0 ? none : withoutOverlaps(reading.places);
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
  let [at, done] = [0, 0];
  const open = stretches
    .sort((a, b) => a.from - b.from)
    .filter(({ from, to }) => {
      while (at < known.length && (known[at] as Secret).end <= from) at += 1;
      if (at < known.length && (known[at] as Secret).start < to) return false;
      if (!isWithin(done, shown, from)) return false;
      done += to - from + callingChars;
      return true;
    });
  if (open.length === 0) return secrets;
  const more = findByBase(text, open).filter((place) => !isMarked(text, place));
  return more.length === 0 ? secrets : withoutOverlaps([...secrets, ...more]);
}

/** Keeps the stretches that rows of the base are shown of a place where their word stands. */
function keepStretches(rows: readonly BaseRow[], start: number, end: number): void {
  for (const row of rows) {
    if (!isWithin(reading.kept, kept, end) || start < (reading.shownTo.get(row) ?? 0)) continue;
    reading.kept += keepingChars;
    const stretch = row.stretch(reading.text, start, end);
    if (!stretch) continue;
    reading.kept += stretch[1] - stretch[0];
    reading.stretches.push({ row, from: stretch[0], to: stretch[1] });
    reading.shownTo.set(row, stretch[1]);
  }
}

/** Looks closely at a place where a word ends. */
function look(index: number, end: number): void {
  const { word, length, forms: same, shape, rows } = sought[index] as Sought;
  const { text } = reading;
  const start = end - length;
  if (shape) {
    if (!isWithin(reading.looked, looks, end) || !isWithin(reading.glanced, glances, end)) return;
    if (start < (reading.foundTo.get(shape) ?? 0)) return;
    reading.glanced += 1;
    if (shape.mayBe?.(text, end, start) === false) return;
    reading.looked += 1;
    if (rows.length > 0) keepStretches(rows, start, end);
    const found = shape.find(text, start, end);
    if (!found) return;
    for (const place of Array.isArray(found) ? found : [found]) {
      if (isMarked(text, place)) continue;
      reading.places.push(place);
      reading.foundTo.set(shape, place.end);
    }
    return;
  }
  if (!isWithin(reading.tried, tries, end) || isInWord(text, start) || !text.startsWith(word, start)) return;
  reading.tried += 1;
  if (rows.length > 0) keepStretches(rows, start, end);
  if (!mayFollow(same, text, end)) return;
  reading.runs ??= new Runs(text);
  if (isInBase64(text, start, reading.runs)) return;
  for (const form of same) {
    const to = endOfForm(form, text, start, reading.runs);
    if (to === undefined || !isWithin(reading.weighed, weighings, end)) continue;
    const last = reading.formed;
    if (last && to <= last.end && form.kind === last.kind) continue;
    const rest = text.slice(start + length, Math.min(to, start + weighedChars));
    const isOne = isRandom(rest);
    if (!isOne || (last && start < last.end)) reading.weighed += rest.length + weighingChars;
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
const [backslash, percent, smallM, smallU, smallX] = [0x5c, 0x25, 0x6d, 0x75, 0x78];

/** Whether an escape ends at a place: of a line end, of a character (in JSON, JavaScript and URLs), or of a terminal's colour. */
function isEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at - 2) === backslash) return "nrt".includes(text.charAt(at - 1));
  const isCharacter =
    text.charCodeAt(at - 3) === percent ||
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

function withoutOverlaps(places: Place[]): Secret[] {
  const rankOf = (secret: Secret) => (secret.certain ? 0 : kinds.length) + (rank.get(secret.kind) ?? 0);
  const secrets = places.map((place) => ({ ...place, certain: certain.has(place.kind) }));
  secrets.sort((a, b) => a.start - b.start || b.end - a.end);
  const taken: Secret[] = [];
  for (const secret of secrets) {
    const last = taken.at(-1);
    if (last === undefined || secret.start >= last.end) taken.push(secret);
    else if (rankOf(secret) < rankOf(last)) taken[taken.length - 1] = secret;
  }
  return taken;
}
