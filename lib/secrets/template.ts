/** Bits of a character's classes, by its code below 128. */
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

/** A form of a secret: its beginning, and the runs and texts behind it. */
export type TokenForm = { head: string; parts: (string | { bit: number; min: number; max: number })[] };

/** Reads a template of lib/secrets/kinds.ts. @throws Error where it is none */
export function parseTemplate(form: string): TokenForm {
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

/**
 * Where runs of characters of a class end, each read once: a text of nothing but beginnings of secrets takes linear time, too.
 */
export class CharacterRuns {
  readonly #text: string;
  /** The last known run of each class, from one place on to its end. */
  readonly #from = new Int32Array(classNames.length).fill(-1);
  readonly #to = new Int32Array(classNames.length).fill(-1);
  /** Up to where Base64 was counted, and how much. */
  #readTo = -1;
  #before = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The end of the run of a class that contains `at`; `at` itself where there is none. */
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

  /** How many characters of Base64 stand before `at`, counted up to `max`. */
  base64Before(at: number, max: number): number {
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

/** Whether a letter or digit of ASCII stands at a place. */
export const isAlnum = (text: string, at: number): boolean => at >= 0 && hasClass(alnum, text.charCodeAt(at));

/** Whether a character, by its code, is of a class; a text's end (NaN) is of none. */
export const hasClass = (bit: number, code: number): boolean => code < 128 && ((bits[code] ?? 0) & bit) !== 0;

/** Where a secret of a form whose beginning stands at `at` ends; undefined where there is none. */
export function findFormEnd({ head, parts }: TokenForm, text: string, at: number, runs: CharacterRuns): number | undefined {
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
  // What fills Base64 up belongs to it.
  for (let filled = 0; typeof last === "object" && last.bit === base64 && filled < 2; filled += 1)
    if (text.startsWith("=", end)) end += 1;
  return end;
}

/** A made-up secret of a form, of characters that `random` chooses (0 to below 1). For tests. */
export function fillForm({ head, parts }: TokenForm, random: () => number): string {
  const filled = parts.map((part) => {
    if (typeof part === "string") return part;
    const letters = [...bits.keys()].filter((code) => hasClass(part.bit, code)).map((code) => String.fromCharCode(code));
    const plain = letters.filter((letter) => /[0-9A-Za-z]/.test(letter));
    return Array.from({ length: part.min }, () => plain[Math.floor(random() * plain.length)]).join("");
  });
  return head + filled.join("");
}
