import { isCredible, mayBePassword } from "#common/secrets/credible";
import { type Detector, readBefore, type SecretPlace } from "#common/secrets/detectors/detector";

const headerChars = 300;
const isDivider = /^[\s|+:-]*$/;
/** JSON escapes the ends of lines. */
const nextLine = /(?:[^\n\\]|\\(?!\\{0,2}n)){0,8000}/y;
const lineEnd = /\n|\\{1,3}n/y;
const namesPassword = /(?:^|[ _-])pass(?:word|wd|phrase|wort)?$/i;
const namesKey = /(?:^|[ _-])(?:(?:api|access|secret|private)?[ _-]?key|secret|token)$/i;

/** Removes Markdown around a cell. @returns `skipped`: the number of characters before its value */
function readCell(cell: string): { skipped: number; value: string } {
  const [, ahead = "", value = ""] = /^([\s*_`]*)(.*?)[\s*_`]*$/.exec(cell) ?? [];
  return { skipped: ahead.length, value };
}

function findInRow(row: string, from: number, header: string[]): SecretPlace[] {
  const places: SecretPlace[] = [];
  let at = from;
  for (const [index, cell] of row.split("|").entries()) {
    const name = header[index] ?? "";
    const { skipped, value } = readCell(cell);
    const isPassword = namesPassword.test(name);
    const isNamed = (isPassword || namesKey.test(name)) && !/[\s`]/.test(value);
    if (isNamed && (isCredible(value) || (isPassword && mayBePassword(value, true))))
      places.push({ kind: "assignment", start: at + skipped, end: at + skipped + value.length });
    at += cell.length + 1;
  }
  return places;
}

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

/** A table is recognized by the line between its header and its rows. */
const tableColumn: Detector = {
  words: ["|--", "| --", "|:-", "| :-", "+--", "--+", "--|", "-- |"],
  mayBe(text, _end, start) {
    let at = start;
    if (text.charCodeAt(start) === 0x2d) while (at > start - 80 && " -".includes(text.charAt(at - 1))) at -= 1;
    return "\nn".includes(text.charAt(at - 1));
  },
  find(text, start, end) {
    const [line = ""] = readBefore(text, start, headerChars).split("\n").slice(-2);
    const header = line.split("|").map((cell) => readCell(cell).value);
    if (header.length < 2 || !header.some((name) => namesPassword.test(name) || namesKey.test(name))) return undefined;
    const rows = linesFrom(text, end);
    if (!isDivider.test(rows.next().value?.line ?? "")) return undefined;
    const places: SecretPlace[] = [];
    for (const { line: row, at } of rows) {
      // Rows after another divider belong to that table.
      if (!row.includes("|") || isDivider.test(row)) break;
      places.push(...findInRow(row, at, header));
    }
    return places.length > 0 ? places : undefined;
  },
};

const lineEnds = /\n|\\{1,3}n/g;

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

export const tableCells: readonly Detector[] = [tableColumn];
