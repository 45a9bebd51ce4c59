// Every expression runs in linear time: a title's first characters are bounded, and so is what each expression takes.
import { escapePattern } from "#common/escape-pattern";
import { withoutOpening } from "#lib/transcript/titles/opening";

const maxLooked = 600;
/** Signs of East Asian scripts are about twice as wide. */
const maxWidth = 70;
const maxSubject = 32;
const minClause = 24;

/** At most 70 characters: plain, in sentence case, and cut after a sentence or clause. */
export function shortTitle(title: string): string {
  const plain = plainTitle(title);
  const [, subject, said] = begunBy.exec(plain) ?? [];
  if (subject === undefined || said === undefined)
    return sentenceCase(title, cutAtClause(withoutOpening(plain), maxWidth));
  const [, name = subject, number = ""] = /^(.*?)( \((?:#\d+|[\w./-]+)\))$/.exec(subject) ?? [];
  const asked = withoutOpening(said);
  const room = maxWidth - getWidth(asked) - number.length - 2;
  const first = sentenceCase(title, cutAtClause(name, Math.max(room, maxSubject)) + number);
  return `${first}: ${cutAtClause(asked, Math.max(maxWidth - getWidth(first) - 2, minClause))}`;
}

/** A command, or its pull request, and what the command was given (derive-title.ts). */
const begunBy =
  /^([^\n]{1,200} \((?:#\d{1,9}|[\w./-]{1,80})\)|\p{Lu}\p{L}{1,20}(?: [\p{L}\d]{1,20}){1,3}): (\S[^\n]*)$/u;

const link = /!?\[([^\]\n]{1,300})\]\([^\s()]{0,300}(?:\([^\s()]{0,100}\)[^\s()]{0,100}){0,2}\)/g;
const marks = [
  /(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,300}?)(?<=\S)\1(?![\w*])/g,
  /(?<![\w/.])(_{1,2})(?=[^\s_])([^\n]{1,300}?)(?<=[^\s_])\1(?![\w/.])/g,
  /(~~)(?=\S)([^~\n]{1,300})\1/g,
];
const lineMarks = /^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\[[ xX]\]\s+|1[.)]\s?(?=\D))+/;
const emoji = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F}|\u{200D}|\u{20E3})+\s*/gu;

/** The whole title without Markdown. */
export function plainTitle(title: string): string {
  let plain = title.slice(0, maxLooked).replace(/\s+/g, " ").trim().replace(lineMarks, "").replace(link, "$1");
  for (const mark of marks) plain = plain.replace(mark, "$2");
  plain = plain.replaceAll("`", "").replace(/\\([_*#[\]])/g, "$1");
  return plain.replace(emoji, "").trim() || plain.trim();
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u{3000}-\u{303F}\u{FF00}-\u{FFEF}]/u;
const getSignWidth = (sign: string) => (wide.test(sign) ? 2 : 1);
const getWidth = (text: string) => [...text].reduce((sum, sign) => sum + getSignWidth(sign), 0);

/** @returns the number of characters that fit in a width */
function getEnd(text: string, max: number): number {
  let [end, width] = [0, 0];
  for (const sign of text) {
    width += getSignWidth(sign);
    if (width > max) return end;
    end += sign.length;
  }
  return end;
}

const sentenceEnd = /(?<!\b(?:e\.g|i\.e|vs|etc|cf|approx|no))(?:[.!?]+(?=\s+["'`(@]?[\p{L}\d])|[。！？])/giu;
const clauseEnd =
  /[;:,](?=\s)|\s[-–—]+(?=\s)|[，、；：]|\s(?=(?:and|but|so that|because|since|which|where|while)\s)/giu;
const isBeforeWord = (text: string, end: number) => /^ \w/.test(text.slice(end, end + 2));
/** A comma after it ends only the condition. */
const condition =
  /(?:^|[.:] )(?:when|if|after|before|for|in|on|since|while|because|as|once|given|with|from|at|during)\b[^,;:]*$/i;
const dangling = new Set(
  "the a an to of and or in for with on at by from as is are our my your this that these if it so be not than into you we i".split(
    " ",
  ),
);

/** No expression, which would try each way to split the signs at the end. */
function withoutDangling(text: string): string {
  let end = text.length;
  for (;;) {
    while (end > 0 && " ,;:.–—-".includes(text.charAt(end - 1))) end -= 1;
    const word = text.lastIndexOf(" ", end - 1) + 1;
    if (word === 0 || !dangling.has(text.slice(word, end).toLowerCase())) return text.slice(0, end);
    end = word;
  }
}

const enough = { sentence: 36, clause: 36, beforeWord: 46 };

function cutAtClause(long: string, max: number): string {
  if (getWidth(long) <= max) return withoutStop(long);
  const text = compact(long);
  const end = getEnd(text, max);
  const sentences = listEnds(text, sentenceEnd, end, true);
  const sentence = sentences.at(-1)?.trim() ?? "";
  if (end === text.length || getWidth(sentence) >= enough.sentence) return withoutStop(sentence || text);
  const getLeast = (part: string) => (isBeforeWord(text, part.length) ? enough.beforeWord : enough.clause);
  const clause = listEnds(text, clauseEnd, end, false).findLast(
    (part) =>
      getWidth(part) >= Math.max(getLeast(part), getWidth(sentence) + 12) && isWhole(part) && !condition.test(part),
  );
  if (clause !== undefined) return withoutDangling(clause);
  const last = getEnd(text, max - 1);
  const begin = text.slice(0, last);
  const word = begin.lastIndexOf(" ");
  const isTold = getWidth(sentence) >= minClause && end - word > maxSubject;
  if (isTold) return withoutStop(sentence);
  const cut = text.charAt(last) === " " || word < last / 2 ? begin : begin.slice(0, word);
  return `${withoutDangling(cut.toWellFormed()).trim()}…`;
}

function listEnds(text: string, ends: RegExp, max: number, isIncluded: boolean): string[] {
  const found = [...text.matchAll(ends)].map((one) => one.index + (isIncluded ? one[0].length : 0));
  return found.filter((at) => at > 0 && at <= max).map((at) => text.slice(0, at).trimEnd());
}

/** False if the cut is within brackets or quotation marks. */
const isWhole = (part: string) =>
  part.split('"').length % 2 === 1 &&
  part.lastIndexOf("(") <= part.lastIndexOf(")") &&
  part.lastIndexOf("[") <= part.lastIndexOf("]");

const hash = /\b([0-9a-f]{8})[0-9a-f]{32}\b/g;
const repository = /(?<![\w/.-])[\w.-]{1,40}\/([\w.-]{1,60}#\d{1,9})\b/g;
const path = /(?<![\w:/.@~-])@?(?:~|\.{1,2}|…)?\/?(?:[\w.@%+~-]{1,80}\/){2,40}([\w.@%+~-]{4,80})/g;

/** Long names are shortened only in titles that need it. */
const compact = (text: string) =>
  text
    .replace(hash, "$1")
    .replace(repository, "$1")
    .replace(path, (_, name: string) => `…/${name}`);

const withoutStop = (text: string) => text.replace(/[\s,;:–—。]+$|(?<!\.)\.$/u, "") || text;

const lowerNames = new Set(
  `npm npx pnpm yarn git gh glab cargo kubectl curl bash zsh vim tmux grep sed awk rg jq ssh sudo eslint vite vitest webpack
  psql systemd pip uv ruff mypy pytest cmake`.split(/\s+/),
);

const conventional = /^(feat|fix|chore|docs|refactor|style|perf|test|build|ci)(?:\([^()\s]{1,40}\))?!?: (?=\S)/;

/** Code keeps its case: names with a capital, sign or digit in them, programs, and what was between backticks. */
function sentenceCase(original: string, title: string): string {
  const [prefix, type] = conventional.exec(title) ?? [];
  if (prefix) {
    const rest = title.slice(prefix.length);
    return sentenceCase("", type === "fix" && !/^fix/i.test(rest) ? `fix ${rest}` : rest);
  }
  const [word = ""] = /^[^\s,;:!?]+/.exec(title) ?? [];
  const isCode = new RegExp(`^\\W{0,6}\`${escapePattern(word)}`).test(original);
  if (isCode || lowerNames.has(word) || !/^\p{Ll}[\p{Ll}'’]*(?:-\p{Ll}+)*\.?$/u.test(word)) return title;
  const [first = ""] = title;
  const upper = first.toUpperCase();
  // Georgian has capitals that no sentence begins with.
  return upper.length === first.length && !/\p{Script=Georgian}/u.test(first)
    ? upper + title.slice(first.length)
    : title;
}
