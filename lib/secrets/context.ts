/** Colours of a terminal, also as JSON, JavaScript and shells write them. */
const colours = /(?:\p{Cc}|\\{1,3}(?:u001b|x1b|033|e))\[[\d;]{0,8}m/giu;

/**
 * What stands before a place; escapes of line ends and tabs, as JSON has them, are blanks and line ends of the same length, and
 * colours are blanks.
 */
export function readBefore(text: string, at: number, chars: number): string {
  const part = text.slice(Math.max(0, at - chars), at);
  const hasColours = part.includes("[") && (part.includes("\u001b") || part.includes("\\"));
  const plain = hasColours ? part.replace(colours, (colour) => " ".repeat(colour.length)) : part;
  return plain.includes("\\") ? plain.replace(/\\[bfnrt]/g, " \n") : plain;
}

/** Whether a letter, digit or underscore that is none of an escape stands before a place. */
export const isInWord = (text: string, at: number): boolean => /\w$/.test(readBefore(text, at, 2));
