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

/** The form of a token: its beginning, then runs of characters and fixed texts. */
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

/** Reads each run of characters once, so that a text of nothing but beginnings of tokens takes linear time. */
export class CharacterRuns {
  readonly #text: string;
  /** The last run of each class. */
  readonly #from = new Int32Array(classNames.length).fill(-1);
  readonly #to = new Int32Array(classNames.length).fill(-1);
  /** The end and length of the last run of Base64 that was counted. */
  #readTo = -1;
  #before = 0;

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

  /** Counts the characters of Base64 before `at`, up to `max`. */
  countBase64Before(at: number, max: number): number {
    let count = 0;
    while (count < max && at - count !== this.#readTo && hasClass(base64, this.#text.charCodeAt(at - count - 1)))
      count += 1;
    if (at - count === this.#readTo) count = Math.min(max, count + this.#before);
    this.#readTo = at;
    this.#before = count;
    return count;
  }
}

const alnum = getClassBit("alnum");
const base64 = getClassBit("base64");

export const isAlnum = (text: string, at: number): boolean => at >= 0 && hasClass(alnum, text.charCodeAt(at));

/** @param code NaN at a text's end, which no class has */
export const hasClass = (bit: number, code: number): boolean => code < 128 && ((bits[code] ?? 0) & bit) !== 0;

/** @param at the beginning of the form's first text */
export function findFormEnd(
  { head, parts }: TokenForm,
  text: string,
  at: number,
  runs: CharacterRuns,
): number | undefined {
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
  // Padding of Base64.
  for (let filled = 0; typeof last === "object" && last.bit === base64 && filled < 2; filled += 1)
    if (text.startsWith("=", end)) end += 1;
  return end;
}
