/** What stands before a place; escapes of line ends and tabs, as JSON has them, are blanks and line ends of the same length. */
export function before(text: string, at: number, chars: number): string {
  const part = text.slice(Math.max(0, at - chars), at);
  return part.includes("\\") ? part.replace(/\\[nrt]/g, " \n") : part;
}

/** Whether a letter, digit or underscore that is none of an escape stands before a place. */
export const isInWord = (text: string, at: number): boolean => /\w$/.test(before(text, at, 2));
