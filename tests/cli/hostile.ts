import { expect } from "vitest";

/** What a terminal acts on, can't show, or shows in another place; and some text. */
const fragments = [
  "\x1b[31m",
  "\x1b[2J\x1b[H",
  "\x1b]0;title\x07",
  "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
  "\x1b]52;c;ZXZpbA==\x07",
  "\x1bP+q544e\x1b\\",
  "\x9b31m",
  "\x9d0;title\x9c",
  "\x00\x05\x07\b\t\v\f\x0e\x7f\x85",
  "\r",
  "\n",
  "\r\nspoor: forged line\n",
  "\u2028\u2029",
  "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f",
  "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u115f\u3164\uffa0",
  "\ufff9\ufffa\ufffb",
  "\u{e0041}\u{e007f}\u{1d173}\u{e0100}\ufe0f",
  "\ud83d",
  "\udc00",
  "\u00a0\u2003\u3000",
  "漢字",
  "café",
  "😀",
  "plain text",
  '"quoted" \\ {}',
];

/** A random text of fragments. The same seed makes the same one. */
export function hostileText(seed: number): string {
  let state = seed + 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from(
    { length: 2 + Math.floor(next() * 6) },
    () => fragments[Math.floor(next() * fragments.length)],
  ).join("");
}

/** Every fragment in one text. */
export const mostHostileText = fragments.join("x");

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0]/u;

/** Expects visible text, in lines. */
export function expectPrintable(output: string): void {
  const line = output.split("\n").find((one) => unprintable.test(one));
  expect(line === undefined ? undefined : JSON.stringify(line)).toBeUndefined();
}
