import { isPassword } from "#common/secrets/credible";

export type SecretPlace = { kind: string; start: number; end: number };

/** Finds secrets near certain words, in any case. */
export type Detector = {
  words: readonly string[];
  /** False where a name that contains the word does not name a secret. */
  mayNameSecret?: (text: string, end: number) => boolean;
  /** A quick test that rejects most places before a close look. */
  mayBe?: (text: string, end: number, start: number) => boolean;
  cost?: number;
  /** All calls together take time linear in the text's length. */
  isLinear?: boolean;
  find: (text: string, start: number, end: number) => SecretPlace | SecretPlace[] | undefined;
};

/** `ahead` has to match at the end of the 160 characters before the word. */
type Options = Pick<Detector, "mayBe"> & { chars?: number; ahead?: RegExp };
const aheadChars = 160;

const splitWords = (words: string | string[]): string[] => (typeof words === "string" ? words.split("|") : words);

/** Finds a secret after a word (several are separated by `|`): the first group of a pattern, which reads the next `chars` characters. */
export const findAfter = (
  kind: string,
  words: string | string[],
  pattern: RegExp,
  isSecret: (value: string) => boolean,
  { chars = 400, ahead, ...options }: Options = {},
): Detector => ({
  ...options,
  words: splitWords(words),
  find(text, start, end) {
    if (ahead && !ahead.test(readBefore(text, start, aheadChars))) return undefined;
    const [whole = "", value = ""] = pattern.exec(text.slice(end, end + chars)) ?? [];
    if (value === "" || !isSecret(value)) return undefined;
    const from = end + whole.lastIndexOf(value);
    return { kind, start: from, end: from + value.length };
  },
});

export const findPasswordAfter = (
  words: string | string[],
  pattern: RegExp,
  isSecret = isPassword,
  options: Options = {},
): Detector => findAfter("assignment", words, pattern, isSecret, options);

/** Finds a secret before a word: the first group of a pattern that ends there. */
export const findBefore = (
  kind: string,
  words: string,
  pattern: RegExp,
  isSecret: (value: string) => boolean,
): Detector => ({
  words: splitWords(words),
  find(text, start) {
    const [whole = "", value = ""] = pattern.exec(readBefore(text, start, 400)) ?? [];
    if (value === "" || !isSecret(value)) return undefined;
    const from = start - whole.length + whole.indexOf(value);
    return { kind, start: from, end: from + value.length };
  },
});

/** @param behind ends before the word; `ahead` is sticky, and begins at the word in its own case */
export const findAround = (
  kind: string,
  word: string,
  behind: RegExp,
  ahead: RegExp,
  isSecret: (value: string) => boolean,
): Detector => ({
  words: [word.toLowerCase()],
  mayBe: (text, end) => text.startsWith(word, end - word.length),
  find(text, start) {
    ahead.lastIndex = start;
    const [rest = ""] = ahead.exec(text) ?? [];
    const head = rest === "" ? undefined : behind.exec(readBefore(text, start, 80))?.[0];
    if (head === undefined || !isSecret(head + rest)) return undefined;
    return { kind, start: start - head.length, end: start + rest.length };
  },
});

/** Colours of a terminal, also as JSON, JavaScript and shells write them. */
const colours = /(?:\p{Cc}|\\{1,3}(?:u001b|x1b|033|e))\[[\d;]{0,8}m/giu;

export function readBefore(text: string, at: number, chars: number): string {
  const part = text.slice(Math.max(0, at - chars), at);
  const hasColours = part.includes("[") && (part.includes("\u001b") || part.includes("\\"));
  const plain = hasColours ? part.replace(colours, (colour) => " ".repeat(colour.length)) : part;
  return plain.includes("\\") ? plain.replace(/\\[bfnrt]/g, " \n") : plain;
}

export const isInWord = (text: string, at: number): boolean => /\w$/.test(readBefore(text, at, 2));
