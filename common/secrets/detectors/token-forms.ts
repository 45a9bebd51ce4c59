import { isRandom } from "#common/secrets/credible";
import type { Detector, SecretPlace } from "#common/secrets/detectors/detector";
import { costs, spend } from "#common/secrets/effort";
import { kinds } from "#common/secrets/kinds";

const classes = {
  digit: /[0-9]/,
  hex: /[0-9a-fA-F]/,
  lower: /[0-9a-z]/,
  upper: /[0-9A-Z]/,
  alnum: /[0-9A-Za-z]/,
  uuid: /[0-9a-f-]/,
  word: /[0-9A-Za-z_]/,
  url: /[0-9A-Za-z_-]/,
  dotted: /[0-9A-Za-z_.-]/,
  base64: /[0-9A-Za-z+/]/,
  percent: /[0-9A-Za-z+/%_-]/,
} as const;
type ClassName = keyof typeof classes;
const classNames = Object.keys(classes) as ClassName[];
const getClassBit = (name: ClassName): number => 1 << classNames.indexOf(name);
const bits = Uint16Array.from({ length: 128 }, (_, code) =>
  classNames.reduce((sum, name) => (classes[name].test(String.fromCharCode(code)) ? sum | getClassBit(name) : sum), 0),
);

export type TokenForm = { head: string; parts: (string | { bit: number; min: number; max: number })[] };

/** Parses a form of kinds.ts. @throws Error for anything else */
export function parseTokenForm(form: string): TokenForm {
  const [head = "", ...rest] = form.split(/(?=\{)|(?<=\})/);
  if (head === "" || head.startsWith("{")) throw new Error(`"${form}" does not begin with text`);
  const parts = rest.map((part) => {
    if (!part.startsWith("{")) return part;
    const [, name = "", min, max = min] = /^\{(\w+):(\d+)(?:-(\d+))?\}$/.exec(part) ?? [];
    if (!(name in classes)) throw new Error(`"${part}" of "${form}" is no run of characters`);
    return { bit: getClassBit(name as ClassName), min: Number(min), max: Number(max) };
  });
  return { head, parts };
}

/** A text that consists of token prefixes must take linear time. */
class CharacterRuns {
  readonly #text: string;
  readonly #from = new Int32Array(classNames.length).fill(-1);
  readonly #to = new Int32Array(classNames.length).fill(-1);

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns the end of the run that contains `at`; `at` itself without one */
  findEnd(bit: number, at: number): number {
    const index = 31 - Math.clz32(bit);
    const known = this.#to[index] as number;
    if (at <= known && at >= (this.#from[index] as number)) return known;
    let to = at;
    while (to < this.#text.length && hasClass(bit, this.#text.charCodeAt(to))) to += 1;
    this.#from[index] = at;
    this.#to[index] = to;
    return to;
  }
}

const [alnum, base64] = [getClassBit("alnum"), getClassBit("base64")];

const isAlnum = (text: string, at: number): boolean => at >= 0 && hasClass(alnum, text.charCodeAt(at));

/** @param code NaN at a text's end, which no class has */
export const hasClass = (bit: number, code: number): boolean => code < 128 && ((bits[code] ?? 0) & bit) !== 0;

function findFormEnd({ head, parts }: TokenForm, text: string, at: number, runs: CharacterRuns): number | undefined {
  let end = at + head.length;
  for (const part of parts) {
    if (typeof part === "string") {
      if (!text.startsWith(part, end)) return undefined;
      end += part.length;
      continue;
    }
    const to = runs.findEnd(part.bit, end);
    if (to - end < part.min || to - end > part.max) return undefined;
    end = to;
  }
  const last = parts.at(-1);
  for (let filled = 0; typeof last === "object" && last.bit === base64 && filled < 2; filled += 1)
    if (text.startsWith("=", end)) end += 1;
  return end;
}

/** Most prefixes are words. */
function mayHaveForm(forms: readonly TokenForm[], text: string, at: number): boolean {
  return forms.some(({ parts: [run, next] }) => {
    if (typeof run !== "object") return true;
    const end = at + run.min;
    if (!hasClass(run.bit, text.charCodeAt(at)) || !hasClass(run.bit, text.charCodeAt(end - 1))) return false;
    return run.min < run.max || typeof next !== "string" || text.startsWith(next, end);
  });
}

const weighedChars = 200;
let runs: CharacterRuns | undefined;

/** Clears the runs of the previous text: comparing texts at each call would take quadratic time. */
export function forgetRuns(): void {
  runs = undefined;
}

type KindForm = TokenForm & { kind: string };

const detectTokens = (head: string, forms: readonly KindForm[]): Detector => ({
  words: [head],
  cost: costs.attempt,
  mayNameSecret: () => false,
  mayBe: (text, end, start) =>
    text.startsWith(head, start) && !isInsideWord(text, start) && mayHaveForm(forms, text, end),
  find(text, start, end) {
    if (isInBase64(text, start)) return undefined;
    runs ??= new CharacterRuns(text);
    const known = runs;
    return forms.flatMap((form): SecretPlace[] => {
      const to = findFormEnd(form, text, start, known);
      if (to === undefined) return [];
      const weighed = text.slice(end, Math.min(to, start + weighedChars));
      if (isRandom(weighed)) return [{ kind: form.kind, start, end: to }];
      spend(costs.chars(weighed.length), end);
      return [];
    });
  },
});

export function makeTokenDetectors(): Detector[] {
  const byHead = new Map<string, KindForm[]>();
  for (const { id: kind, forms } of kinds) {
    for (const form of forms.map(parseTokenForm))
      byHead.set(form.head, [...(byHead.get(form.head) ?? []), { kind, ...form }]);
  }
  return [...byHead].map(([head, forms]) => detectTokens(head, forms));
}

const endsWithEscape = /(?:\\[bfnrt]|(?:[%=]|\\x)[\da-fA-F]{2}|\\u[\da-fA-F]{4}|\[[\d;]{0,8}m)$/;

const isInsideWord = (text: string, at: number): boolean =>
  isAlnum(text, at - 1) && isAlnum(text, at) && !endsWithEscape.test(text.slice(Math.max(0, at - 10), at));

/** A longer run of Base64, as of an image, is not a path. */
const longRun = /[0-9A-Za-z+/]{47}[+/]$/;
const isInBase64 = (text: string, at: number): boolean => longRun.test(text.slice(Math.max(0, at - 48), at));
