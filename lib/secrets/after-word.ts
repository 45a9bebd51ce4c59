// Secrets that a word, a command or a call before them tells of: most are one line of a table.
import { isDense } from "#lib/secrets/credible";
import type { Detector } from "#lib/secrets/shape";

/** A secret behind a word, found in so many characters by a pattern whose first group it is. */
export const afterWord = (
  kind: string,
  words: string[],
  pattern: RegExp,
  isOne: (value: string) => boolean,
  chars = 400,
): Detector => ({
  words,
  find(text, _start, end) {
    const found = pattern.exec(text.slice(end, end + chars));
    const [whole = "", value = ""] = found ?? [];
    if (value === "" || !isOne(value)) return undefined;
    const from = end + whole.lastIndexOf(value);
    return { kind, start: from, end: from + value.length };
  },
});

/** Whether a value is as varied as random letters, or hexadecimal. */
export const isKey = (value: string): boolean => isDense(value) || /^[0-9a-f]{32,128}$/.test(value);
