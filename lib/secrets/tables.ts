// Tables whose header names what a column has: of Markdown, and as programs of databases print them.

import { readBefore } from "#lib/secrets/context";
import { isCredible } from "#lib/secrets/credible";
import { mayBePassword } from "#lib/secrets/password";
import type { SecretPlace, Detector } from "#lib/secrets/shape";

/** So much of a header is looked at. */
const headerChars = 300;
const isDivider = /^[\s|+:-]*$/;
/** A line, whose end may be that of JSON in a text; what is longer is no row. */
const nextLine = /(?:[^\n\\]|\\(?!\\{0,2}n)){0,8000}/y;
const lineEnd = /\n|\\{1,3}n/y;
const namesPassword = /(?:^|[ _-])pass(?:word|wd|phrase|wort)?$/i;
const namesKey = /(?:^|[ _-])(?:(?:api|access|secret|private)?[ _-]?key|secret|token)$/i;

/** A cell without what Markdown adds, and how much of that stands before it. */
function plain(cell: string): { skipped: number; value: string } {
  const [, ahead = "", value = ""] = /^([\s*_`]*)(.*?)[\s*_`]*$/.exec(cell) ?? [];
  return { skipped: ahead.length, value };
}

/** The passwords and keys in a row's cells, of the columns that have some. */
function inRow(row: string, from: number, header: string[]): SecretPlace[] {
  const places: SecretPlace[] = [];
  let at = from;
  for (const [index, cell] of row.split("|").entries()) {
    const name = header[index] ?? "";
    const { skipped, value } = plain(cell);
    const isPassword = namesPassword.test(name);
    const isNamed = (isPassword || namesKey.test(name)) && !/[\s`]/.test(value);
    if (isNamed && (isCredible(value) || (isPassword && mayBePassword(value, true))))
      places.push({ kind: "assignment", start: at + skipped, end: at + skipped + value.length });
    at += cell.length + 1;
  }
  return places;
}

/** The lines from a place on. */
function* linesFrom(text: string, from: number): Generator<{ line: string; at: number }> {
  for (let at = from; ; ) {
    nextLine.lastIndex = at;
    const line = nextLine.exec(text)?.[0] ?? "";
    yield { line, at };
    lineEnd.lastIndex = at + line.length;
    const [end] = lineEnd.exec(text) ?? [];
    if (end === undefined) return;
    at += line.length + end.length;
  }
}

/** The cells below a header: it is found by the line that divides them. */
const column: Detector = {
  words: ["|--", "| --", "|:-", "| :-", "+--", "--+", "--|", "-- |"],
  mayBe(text, _end, start) {
    let at = start;
    if (text.charCodeAt(start) === 0x2d) while (at > start - 80 && " -".includes(text.charAt(at - 1))) at -= 1;
    return "\nn".includes(text.charAt(at - 1));
  },
  find(text, start, end) {
    const [line = ""] = readBefore(text, start, headerChars).split("\n").slice(-2);
    const header = line.split("|").map((cell) => plain(cell).value);
    if (header.length < 2 || !header.some((name) => namesPassword.test(name) || namesKey.test(name))) return undefined;
    const rows = linesFrom(text, end);
    if (!isDivider.test(rows.next().value?.line ?? "")) return undefined;
    const places: SecretPlace[] = [];
    for (const { line: row, at } of rows) {
      // Another divider has rows of its own, so that each is read once.
      if (!row.includes("|") || isDivider.test(row)) break;
      places.push(...inRow(row, at, header));
    }
    return places.length > 0 ? places : undefined;
  },
};

const lineEnds = /\n|\\{1,3}n/g;

/** What stands before a place, from another one on, below the header of the table whose rows go on there, if there is one. */
export function keepHeader(text: string, from: number, at: number): string {
  const lines = text.slice(0, at).split(lineEnds);
  let index = lines.length - 2;
  while (index > 0 && (lines[index] as string).includes("|") && !isDivider.test(lines[index] as string)) index -= 1;
  const [header = "", divider = ""] = lines.slice(Math.max(0, index - 1));
  if (!header.includes("|") || !divider.includes("-") || !isDivider.test(divider)) return text.slice(from, at);
  lineEnds.lastIndex = from;
  const { 0: end = "", index: first = at } = lineEnds.exec(text) ?? {};
  return `${header.slice(-headerChars)}\n${divider.slice(0, headerChars)}\n${text.slice(Math.min(at, first + end.length), at)}`;
}

export const tables: readonly Detector[] = [column];
