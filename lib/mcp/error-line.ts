// An error is searched by its whole line, then by its constant parts.

const maxLine = 500;

export type ErrorSearch = { parts: string[]; isExact: boolean };

/** Nearly every error has these. */
const common = new Set(
  "error errors failed failure cannot could can't not the and for with from find found module file line unexpected undefined null exception invalid type".split(
    " ",
  ),
);

/** Skips the lines of stack traces. */
function findErrorLine(error: string): string {
  const lines = error.split("\n").filter((one) => /\p{L}{3}/u.test(one));
  return (lines.find((one) => !/^(?:\s|Traceback |at )/.test(one)) ?? lines[0] ?? "").slice(0, maxLine);
}

export function tellingWords(error: string): string[] {
  const words = [...findErrorLine(error).matchAll(/[\p{L}_$][\p{L}\p{N}_$.-]*[\p{L}\p{N}_$]/gu)].map(([word]) => word);
  const weight = (word: string) => word.length + (/[._$\d]|\p{Ll}\p{Lu}/u.test(word) ? 100 : 0);
  return [...new Set(words)]
    .filter((word) => word.length >= 3 && word.length <= 100 && !common.has(word.toLowerCase()))
    .toSorted((a, b) => weight(b) - weight(a));
}

const max = { parts: 4, words: 12 };

/** `./a/b.go:10:3:`, `Error:`, `2026/03/02 18:42:41 WARN`. */
const heads =
  /^(?:\S+:\d+(?::\d+)?:?\s+|(?:error|fatal|warning|warn)\b:?\s+|[\d/:.TZ-]+\s+|\w+:\s+(?=command not found))+/i;

/** Numbers, quotations, paths and ids differ each time. */
const variable = /"[^"]*"|'[^']*'|`[^`]*`|\S*\/\S*|\S*\d\S*/;

/** In order of preference. Quotes keep the error's punctuation from being interpreted as query syntax. */
export function attemptsFor(error: string): ErrorSearch[] {
  const line = findErrorLine(error).replaceAll(/[“”]/g, '"');
  const core = line.trim().replace(heads, "");
  const words = tellingWords(error);
  const attempts = [
    { parts: splitErrorLine(line, /"/, 1), isExact: true },
    { parts: splitErrorLine(core, /"|\d+/, 2), isExact: false },
    { parts: splitErrorLine(core, variable, 2), isExact: false },
    { parts: words.length < 4 ? [] : words.slice(0, 4), isExact: false },
    { parts: words.length < 2 ? [] : words.slice(0, 2), isExact: false },
  ];
  const seen = new Set<string>();
  return attempts.filter(({ parts }) => parts.length > 0 && seen.size !== seen.add(parts.join("\n")).size);
}

/** Parts without surrounding punctuation. */
function splitErrorLine(text: string, between: RegExp, minWords: number): string[] {
  const parts = text.split(between).map((part) => part.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""));
  const enough = parts.filter((part) => (part.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= minWords);
  return enough.slice(0, max.parts).map((part) => shortened(part.split(/\s+/)));
}

const shortened = (words: string[]) => words.slice(0, max.words).join(" ");
