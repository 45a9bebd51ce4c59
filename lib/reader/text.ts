/** A text's first line that has words, trimmed; at most `max` characters. */
export function firstLine(text: string, max = 200): string {
  const start = text.search(/\S/);
  if (start === -1) return "";
  const end = text.indexOf("\n", start);
  const line = text.slice(start, end === -1 ? undefined : end).trimEnd();
  return line.length <= max ? line : `${cut(line, max - 1)}…`;
}

/** The first `length` UTF-16 units, but never half a surrogate pair. */
export function cut(text: string, length: number): string {
  return text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);
}

/** How many lines a text has; a newline at the end starts no further one. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** The last lines of a text, at most `lines` and 4,000 characters of them. */
export function getTail(text: string, lines: number): string {
  const trimmed = text.trimEnd();
  let start = trimmed.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = trimmed.lastIndexOf("\n", start - 1);
  return trimmed.slice(Math.max(start + 1, trimmed.length - 4000, 0));
}

/** "1 line", "1,049 lines". */
export const formatQuantity = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/**
 * Where a slice that starts at `from` ends: after `lines` lines or `characters` characters, whichever comes first, at the end
 * of a line if there is one.
 */
export function sliceEnd(text: string, from: number, { lines, characters }: { lines: number; characters: number }) {
  const max = from + characters;
  let end = from;
  for (let line = 0; line < lines; line += 1) {
    const next = text.indexOf("\n", end);
    if (next === -1) return text.length <= max ? text.length : lastBreak(text, from, max);
    if (next + 1 > max) return lastBreak(text, from, max);
    end = next + 1;
  }
  return end;
}

function lastBreak(text: string, from: number, max: number): number {
  const line = text.lastIndexOf("\n", max - 1);
  return line > from ? line + 1 : from + cut(text.slice(from, max), max - from).length;
}

/** Shorter JSON is indented however deep it is. */
const alwaysIndented = 4096;
/** How many times as long as the JSON itself its indentation may be. */
const mostIndentation = 4;

/**
 * Writes JSON for people: each value on a line of its own, or all on one line where that would be indentation above all. Of a MiB of
 * numbers, 58 levels deep, it would be 45 times as much and take 0.7 s.
 */
export function readableJson(value: unknown, indent = 2): string {
  const json = JSON.stringify(value) ?? "";
  if (json.length > alwaysIndented && !isIndentedWithin(value, indent, mostIndentation * json.length)) return json;
  return JSON.stringify(value, null, indent) ?? "";
}

/** Whether the indentation of a value has at most so many characters. */
function isIndentedWithin(value: unknown, indent: number, max: number): boolean {
  let left = max;
  const visit = (value: unknown, level: number): boolean => {
    if (typeof value !== "object" || value === null) return true;
    const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
    left -= items.length * level * indent;
    return left >= 0 && items.every((item) => visit(item, level + 1));
  };
  return visit(value, 1);
}
