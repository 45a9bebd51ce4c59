import { isRandom } from "#lib/secrets/credible";
import { Keywords } from "#lib/secrets/keywords";
import { kinds } from "#lib/secrets/kinds";
import type { Place } from "#lib/secrets/shape";
import { shapes } from "#lib/secrets/shapes";
import { endOfForm, isAlnum, parseTemplate, Runs } from "#lib/secrets/template";

/** A secret in a text: its kind's id, and where it stands. */
export type Secret = Place & { certain: boolean };

const forms = kinds.flatMap(({ id, forms: templates }) =>
  templates.map((form) => ({ kind: id, ...parseTemplate(form) })),
);
const sought = [
  ...forms.map((form) => ({ word: form.head, length: form.head.length, form, shape: undefined })),
  ...shapes.flatMap((shape) => shape.words.map((word) => ({ word, length: word.length, form: undefined, shape }))),
];
const keywords = new Keywords(sought.map(({ word }) => word));
const rank = new Map(kinds.map(({ id }, index) => [id, index]));
const certain = new Set(kinds.filter((kind) => kind.certain).map(({ id }) => id));

/**
 * How often a text's words are looked at closely: so often at once, and once more for so many characters. Only text that is made
 * to take long has more.
 */
const looks = { atOnce: 500, charsEach: 200 };

/** The shortest text with a secret is a URL: `a://:abc@b`. */
const minChars = 10;
const none: Secret[] = [];

/**
 * The secrets in a text, in their order; of two that overlap the certain one, else that of the earlier kind. The time is linear
 * in the text's length, whatever it holds.
 */
export function findSecrets(text: string): Secret[] {
  if (text.length < minChars) return none;
  let runs: Runs | undefined;
  const places: Place[] = [];
  let looked = 0;
  keywords.find(text, (index, end) => {
    const { length, form, shape } = sought[index] as (typeof sought)[number];
    const start = end - length;
    if (shape) {
      if (shape.mayBe?.(text, end) === false) return;
      if (looked > looks.atOnce + end / looks.charsEach) return;
      looked += 1;
      const place = shape.find(text, start, end);
      if (place) places.push(place);
    } else if (form && beginsHere(text, start)) {
      runs ??= new Runs(text);
      const to = endOfForm(form, text, start, runs);
      if (to !== undefined && isRandom(text.slice(start + length, Math.min(to, start + 600))))
        places.push({ kind: form.kind, start, end: to });
    }
  });
  return places.length === 0 ? none : withoutOverlaps(places);
}

/** No letter or digit stands before it, but for those of an escape such as `\n`, nor is it in a run of Base64, as of an image. */
function beginsHere(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if (before === "/" || before === "+") return !/^[A-Za-z0-9+/]{48}$/.test(text.slice(Math.max(0, at - 48), at));
  if (!isAlnum(text, at - 1) || !isAlnum(text, at)) return true;
  return text.charAt(at - 2) === "\\" && "nrt".includes(text.charAt(at - 1));
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
