export function firstLine(text: string, max = 200): string {
  const start = text.search(/\S/);
  if (start === -1) return "";
  const end = text.indexOf("\n", start);
  const line = text.slice(start, end === -1 ? undefined : end).trimEnd();
  return line.length <= max ? line : `${cut(line, max - 1)}…`;
}

export function cut(text: string, length: number): string {
  return text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);
}

/** A newline at the end starts no further line. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

export function getTail(text: string, lines: number): string {
  const trimmed = text.trimEnd();
  let start = trimmed.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = trimmed.lastIndexOf("\n", start - 1);
  return trimmed.slice(Math.max(start + 1, trimmed.length - 4000, 0));
}

/** "1 line", "1,049 lines". */
export const formatQuantity = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** Prefers the end of a line. */
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

const alwaysIndented = 4096;
/** Maximum ratio of indentation to the JSON's own length. */
const mostIndentation = 4;

/** Deeply nested values would grow 45-fold. */
export function readableJson(value: unknown, indent = 2): string {
  const json = JSON.stringify(value) ?? "";
  if (json.length > alwaysIndented && !isIndentedWithin(value, indent, mostIndentation * json.length)) return json;
  return JSON.stringify(value, null, indent) ?? "";
}

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

/** Formats bytes in the unit that leaves at most three digits: "812 B", "19.4 MB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 100 ? 1 : 0)} ${units[power]}`;
}
