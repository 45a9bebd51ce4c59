import { cut } from "#lib/transcript/text";

const maxLooked = 4000;

const wrapping = /(\*\*|__|~~|`+)(?=\S)([^\n]*?\S)\1/g;

/** Underscores in names and stars in commands stay. */
function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)+/, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(wrapping, "$2")
    .replace(wrapping, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

const mute = /^\s*(?:[-*_=]{3,}|`{3,}\S*|~{3,}\S*|<\/?[\w-]+[^>\n]*>)\s*$/;

/** A line that announces the next (“…:”) is joined with it. */
export function plainTitle(text: string, max = 120): string {
  let title = "";
  for (const line of text.slice(0, maxLooked).split("\n")) {
    const words = mute.test(line) ? "" : plainLine(line.slice(0, 3 * max));
    if (!words) continue;
    title = title ? `${title} ${words}` : words;
    if (!title.endsWith(":")) break;
  }
  return title.length <= max ? title : `${cut(title, max - 1)}…`;
}
