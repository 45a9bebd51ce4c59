import { cut } from "#lib/transcript/text";

const maxLooked = 16_384;
const maxMessage = 160;

const telling =
  /\b(?:error|fatal|fail(?:ed|ure|s)?|exception|panic|not found|no such|denied|cannot|can't|couldn't|unable|refused|invalid|unexpected|undefined|timed out|does not|has been modified)\b/i;
/** Lines that many outputs begin with, and places in a stack. */
const empty = /^(?:\s*(?:at |Traceback |File "|[-=~^*_#+|.\s]+$)|Exit code:? -?\d+$|> )/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: programs color their output
const colors = /\u001b\[[\d;]*m/g;

/** The line of a failed call's output that says why; "" if none does. */
export function findErrorMessage(output: string): string {
  const lines = output
    .slice(0, maxLooked)
    .replace(colors, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /\p{L}{2}/u.test(line) && !empty.test(line));
  const line = lines.find((one) => telling.test(one)) ?? lines[0] ?? "";
  return cut(line, maxMessage);
}
