import { cut } from "#lib/reader/text";

/** How much of a text is looked at for its title. */
const maxLooked = 4000;

/** What wraps other words in Markdown: emphasis, code, strikes. */
const wrapping = /(\*\*|__|~~|`+)(?=\S)([^\n]*?\S)\1/g;

/**
 * One line of Markdown as plain words: without marks of headings, lists, quotations, emphasis and code, and with a link's words
 * for the link. Names with underscores and stars in commands stay as they are.
 */
function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)+/, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(wrapping, "$2")
    .replace(wrapping, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

/** Lines that say nothing of their own: rules, fences, and tags. */
const mute = /^\s*(?:[-*_=]{3,}|`{3,}\S*|~{3,}\S*|<\/?[\w-]+[^>\n]*>)\s*$/;

/** A text's first line of words, in plain words; where that announces what follows (“…:”), with the line after it. */
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
