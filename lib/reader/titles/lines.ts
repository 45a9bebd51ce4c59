// The line of a text that says what its writer wants: not what was pasted beside it, not a greeting.

/** Answers and greetings, which say nothing by themselves. */
const weak =
  /^(?:(?:hi|hello|hey|hallo|hola|moin|good (?:morning|afternoon|evening)|yo)(?:[ ,]+(?:there|claude|codex|gemini|copilot|cursor|agent|again|all|team))?|y|n|k|ye[ps]|yeah|yup|yes please|sure|ok(?:ay)?|fine|good|great|nice|perfect|cool|thanks?(?: you| a lot| so much)?|thx|ty|please|no|nope|nah|nm|never ?mind|stop|wait|done|go|go on|go ahead|go for it|do it|do that|do so|proceed|continue|resume|next|again|retry|try again|keep going|carry on|run it|ship it|lgtm|agreed?|approved?|right|correct|exactly|both|all|test|testing|ping|help|what\??|why\??|how\??|huh\??|hm+|(?:ok|yes|sure|great|good|yep|no)[, ]+(?:go ahead|continue|proceed|please|thanks?|do it|go on|thank you)|continue(?: please| from where you left off.*| with the (?:task|work|plan|next step).*)|please (?:continue|proceed|go on|go ahead)|option \w|\W*\d[\d\W]*|[\W_]*)[\s.!?…:)]*$/iu;

/** Whether a line could be anybody's at any time. */
export const isWeak = (line: string): boolean => line.length <= 80 && weak.test(line);

const pasted = new RegExp(
  [
    String.raw`^[\[(]?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[T ,]`, // a date, as logs and some prompts begin
    String.raw`^[\[(]?\d{1,2}:\d{2}:\d{2}\b`,
    String.raw`^(?:[$%❯➜»]|PS [A-Z]:\\|[A-Z]:\\[^ ]*>|>>>|\(\w+\) [$%])\s*\S`,
    String.raw`^[\w.-]+@[\w.-]+[: ][^ ]*\s?[$#%] ?`,
    String.raw`^(?:Traceback \(most recent|goroutine \d|panic: |fatal: |thread '|Caused by:|npm (?:ERR!|error|warn)|make(?:\[\d+\])?: |(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: |(?:error|warning)(?:\[\w+\]| TS\d+)?: )`,
    String.raw`^(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\b`,
    String.raw`^(?:at .+[:(]\d|File "|\^+$|~+$|\.\.\. )`,
    String.raw`^[\w./@-]+\.\w{1,5}:\d+(?::\d+)?\b`, // a place in a file, as compilers print it
    String.raw`^(?:[✖✔✓✗×✘●○◐❌✅⏺⎿│┃├└┌╭╰─━═╔║╚|▸▶]|PASS\b|FAIL\b|ok \d|not ok|--- |\+\+\+ |={2,} |@@ |diff --git|index [0-9a-f]{7}|commit [0-9a-f]{7,}|On branch )`,
    String.raw`^(?:[-+] ?[{}<]|//|/\*|#!|#include|@\w+\()`,
    "[;{]$",
    String.raw`^(?:const|let|var|func|fn|def|class|package|export|public|private) [\w$<(]+.*[({=:]`,
    String.raw`^\d+[→:|] `,
  ].join("|"),
  "u",
);

/** Brackets begin output, code and markup, but for those that words follow. */
const isBracketed = (line: string) => /^[{}[\]<>]/.test(line) && !/(?:\p{L}{2,} ){2}\p{L}/u.test(line);
const isQuestion = (line: string) => /\?\W*$/.test(line) && prose.test(line);

const isPasted = (line: string) => isBracketed(line) || (pasted.test(line) && !isQuestion(line));
/** A place that is given without a word about it. */
const isPlaceAlone = (line: string) => /^(?:@?(?:[a-z]+:\/\/|~?\/|\.{1,2}\/|[A-Z]:\\)|@[\w.-]+[/.])\S+$/.test(line);
const isRule = (line: string) => !/[\p{L}\p{N}]/u.test(line);
const isQuoted = (line: string) => /^(?:>|[-*•] |\d+[.)] )/.test(line);

const unmarked = (line: string) =>
  line
    .replace(/^(?:>\s*|#{1,6}\s+|[-*•]\s+)+/u, "")
    .replace(/^\*\*(.+)\*\*:?$/u, "$1")
    .replace(/\s+/g, " ")
    .trim();

/** At most so many lines of a message are looked at. */
const maxLines = 400;
const maxLineCharacters = 1000;

/** What a text's writer wants, as one line; and whether it says so, rather than being an answer, or pasted alone. */
export function tellingLine(text: string): { line: string; isTelling: boolean } | undefined {
  const lines = plainLines(text);
  const said = lines.filter((line) => !isPasted(line) && !isRule(line));
  const telling = said.filter((line) => !isWeak(line) && !isPlaceAlone(line));
  const begins = lines.find((line) => !isRule(line));
  if (begins !== undefined && isPasted(begins))
    return afterPasted(telling) ?? { line: unmarked(begins), isTelling: false };
  const best = telling.find((line) => !isQuoted(line)) ?? telling[0];
  if (best) return { line: unmarked(withNext(best, lines)), isTelling: true };
  const any = said.find(isPlaceAlone) ?? said[0] ?? lines.find((line) => !isRule(line)) ?? lines[0];
  return any === undefined ? undefined : { line: unmarked(any) || any, isTelling: false };
}

/** Words that hardly any output is without prose around them. */
const prose =
  /\b(?:i|i'm|i've|we|we're|you|your|my|our|me|it's|this is|that's|why|what|how|can|could|should|please|let's|don't|doesn't|didn't|isn't|want|need|still|seems|looks|fix|explain|ich|wir|bitte|warum|je|nous|pourquoi|yo|por qué|что|почему|なぜ|为什么)\b/iu;

/** After output without any mark of its end: what sounds like a person, the last of it at the earliest. */
function afterPasted(telling: string[]): { line: string; isTelling: boolean } | undefined {
  const line = telling.find((one) => /^[\p{L}"'`@(]/u.test(one) && prose.test(one) && /(?:\S+\s+){2}\S/.test(one));
  return line === undefined ? undefined : { line: unmarked(line), isTelling: true };
}

/** The lines that are not blank, without fenced blocks of code, unless there is nothing else. */
function plainLines(text: string): string[] {
  let fence: string | undefined;
  const [plain, fenced]: [string[], string[]] = [[], []];
  for (const raw of text.split(/\r\n?|\n/, maxLines)) {
    const line = raw.trim().slice(0, maxLineCharacters);
    const mark = /^(?:`{3,}|~{3,})/.exec(line)?.[0];
    if (mark && (fence === undefined || mark.startsWith(fence))) fence = fence === undefined ? mark : undefined;
    else if (line !== "") (fence === undefined ? plain : fenced).push(line);
  }
  return plain.length > 0 ? plain : fenced;
}

/** A line that only introduces the next one, with that. */
function withNext(line: string, lines: string[]): string {
  const next = lines[lines.indexOf(line) + 1];
  if (!/[:：]$/.test(line) || line.length > 60 || !next || isRule(next) || isPasted(next)) return line;
  return `${line} ${unmarked(next)}`;
}

const planStart =
  /^(?:please\s+)?(?:implement|execute|carry out|follow|here(?:'s| is))\s+(?:the\s+|this\s+|my\s+)?(?:following\s+)?(?:implementation\s+)?plan\b[^\n]{0,200}(?:\n|$)/i;
const planHeading = /^#{1,3}\s+(.+?)\s*#*$/;
const emptyHeading =
  /^(?:the )?(?:implementation )?(?:plan|context|overview|summary|goals?|background|problem|introduction|task|objective)s?:?$/i;

/** What a plan that an agent is given to carry out is called; undefined for any other text. */
export function planTitle(text: string): string | undefined {
  const start = planStart.exec(text);
  const body = start ? text.slice(start[0].length) : text;
  if (!start && !/^#{1,2}\s+(?:implementation )?plan\b/i.test(text)) return undefined;
  for (const line of body.split("\n", maxLines)) {
    const heading = planHeading.exec(line.trim())?.[1]?.replace(/^(?:implementation )?plan\s*(?:[:–—-]|for\b)\s*/i, "");
    if (heading && !emptyHeading.test(heading)) return unmarked(heading);
  }
  return tellingLine(body.replace(/^#{1,6} .*$/gm, ""))?.line;
}
