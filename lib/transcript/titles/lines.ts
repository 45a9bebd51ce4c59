import { greeted, greetings } from "#lib/transcript/titles/wording";

const answers = [
  "y|n|k|ye[ps]|yeah|yup|yes please|sure|ok(?:ay)?|fine|good|great|nice|perfect|cool|thanks?(?: you| a lot| so much)?|thx|ty|please|no|nope|nah|nm|never ?mind",
  "stop|wait|done|go|go on|go ahead|go for it|do it|do that|do so|proceed|continue|resume|next|again|retry|try again|keep going|carry on|run it|ship it|lgtm|agreed?|approved?|right|correct|exactly|both|all",
  String.raw`test|tests|testing|ping|help|need help|what\??|why\??|how\??|huh\??|hm+|status|any (?:news|progress|updates?)|commit|push|commit (?:and|&) push|lint|build|undo|revert|refactor|clean ?up`,
  "(?:(?:ok|please|let'?s)[, ]+)*(?:pick up|continue|resume|start|go on)(?: with| from)? where (?:we|you|i) (?:left|stopped)(?: off)?(?: .{0,60})?",
  "(?:this|that|it)(?:'?s| is|'s| isn't| is not)? (?:not )?(?:good|bad|wrong|weird|broken|odd|strange|better|great|working)",
  "(?:ok|yes|sure|great|good|yep|no)[, ]+(?:go ahead|continue|proceed|please|thanks?|do it|go on|thank you)",
  "continue(?: please| from where you left off.*| with the (?:task|work|plan|next step).*)|please (?:continue|proceed|go on|go ahead)",
  "(?:please )?(?:fix|solve|explain|summari[sz]e|check|review|read|look at|look into|undo|revert|implement|run|do)(?: (?:this|that|it|these|those|them|all|both))?(?: (?:one|too|now|again|please))?",
  String.raw`(?:let'?s )?(?:(?:go|proceed|continue) with )?option \w`,
  "(?:ok[, ]+)?(?:how|why|what) (?:do|should|can|would|could) (?:i|we|you) (?:fix|fill|solve|do|answer|handle) (?:this|that|it|these)(?: out| in)?",
  "ja|nein|doch|genau|bitte|danke|weiter|mach weiter|oui|non|merci|vas-y|sí|si|vale|dale|gracias|sigue|да|нет|продолжай|дальше|спасибо",
  "はい|いいえ|お願いします|続けて(?:ください)?|ありがとう|是|是的|好|好的|可以|继续|繼續|谢谢|네|예|아니요|계속(?:해줘|해주세요)?|고마워",
].join("|");

const weak = new RegExp(
  // a line without letters
  String.raw`^(?:(?:${greetings})(?:[ ,]+(?:${greeted}))?|${answers}|[^\p{L}]*)[\s,.!?…:)。！？、，]*$`,
  "iu",
);

export const isWeak = (line: string): boolean => line.length <= 80 && weak.test(line);

const pasted = new RegExp(
  [
    String.raw`^[\[(]?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[T ,]`, // a date, as in logs
    String.raw`^[\[(]?\d{1,2}:\d{2}:\d{2}\b`,
    String.raw`^(?:[$%❯➜»]|PS [A-Z]:\\|[A-Z]:\\[^ ]*>|>>>|\(\w+\) [$%])\s*\S`,
    String.raw`^[\w.-]+@[\w.-]+[: ][^ ]*\s?[$#%] ?`,
    String.raw`^(?:Traceback \(most recent|goroutine \d|panic: |fatal: |thread '|Caused by:|npm (?:ERR!|error|warn)|make(?:\[\d+\])?: |(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: |(?:error|warning)(?:\[\w+\]| TS\d+)?: )`,
    String.raw`^(?:ERRORS?|WARN(?:ING)?S?|INFO|DEBUG|TRACE|FATAL|FAILED|FAILURES?)\b`,
    String.raw`^(?:[a-z][\w$]{0,60}\.){1,12}[A-Z]\w{0,80}(?:Error|Exception)\b`, // a Java or Python class
    String.raw`^Unhandled (?:Runtime |Promise )?(?:Error|Rejection|Exception)\b`,
    String.raw`^#\d{1,3} (?:\[|\d+\.\d+ |ERROR|DONE|CACHED|sha256)`, // a step of a container's build
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

/** Brackets begin output, code and markup, unless words follow. */
const isBracketed = (line: string) => /^[{}[\]<>]/.test(line) && !/(?:\p{L}{2,} ){2}\p{L}/u.test(line);
const isQuestion = (line: string) => /\?\W*$/.test(line) && prose.test(line);
const isFrame = (line: string) =>
  /^(?:you are (?:a|an|the|now)\b|act as\b|as an? (?:expert|senior)\b)/i.test(line) ||
  emptyHeading.test(unmarked(line));

const isPasted = (line: string) => isBracketed(line) || (pasted.test(line) && !isQuestion(line));
const isPlace = (word: string) => /^(?:@?(?:[a-z]+:\/\/|~?\/|\.{1,2}\/|[A-Z]:\\)|@[\w.-]+[/.])\S+$/.test(word);
const isPlaceAlone = (line: string) => (line.startsWith("@") ? line.split(/[\s,]+/).every(isPlace) : isPlace(line));
const isRule = (line: string) => !/[\p{L}\p{N}]/u.test(line);
const emptyHeading =
  /^(?:(?:the |your |my )?(?:implementation )?(?:plan|context|overview|summary|goals?|background|problem|introduction|task|objective|role|instructions?|description|request|prompt|requirements?)s?):?$/i;
const isQuoted = (line: string) => /^(?:>|[-*•] |\d+[.)] )/.test(line);

const unmarked = (line: string) =>
  line
    .replace(/^(?:>\s*|#{1,6}\s+|[-*•]\s+)+/u, "")
    .replace(/^\*\*(.+)\*\*:?$/u, "$1")
    .replace(/\s+/g, " ")
    .trim();

const maxLines = 400;
const maxLineCharacters = 1000;

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");
const isFault = (line: string) =>
  /\b(?:error|exception|panic(?:ked)?|failed|fatal)\b/i.test(line) && /\s\S+\s/.test(line);
const faultIn = (lines: string[]) => lines.find((line) => isFault(line) && /:\s/.test(line)) ?? lines.find(isFault);

function asked(line: string): string {
  if (!pasted.test(line)) return line;
  const last = line.split(/(?<=[.!?)\]])\s+(?=\p{Lu})/u).at(-1) ?? line;
  return isQuestion(last) && /(?:\S+\s+){2}\S/.test(last) ? last : line;
}

const isSaid = (line: string) => !isRule(line) && !isPasted(line);
const isTold = (line: string) => isSaid(line) && !isWeak(line) && !isPlaceAlone(line);

export function tellingLine(text: string): { line: string; isTelling: boolean } | undefined {
  const lines = plainLines(text.replace(colours, ""));
  const begins = lines.find((line) => !isRule(line));
  if (begins !== undefined && isPasted(begins))
    return afterPasted(lines.filter(isTold)) ?? { line: unmarked(faultIn(lines) ?? begins), isTelling: false };
  const best =
    lines.find((line) => !isQuoted(line) && isTold(line) && !isFrame(line)) ??
    lines.find((line) => isTold(line) && !isFrame(line)) ??
    lines.find(isTold);
  if (best !== undefined) return { line: unmarked(withNext(asked(best), lines)), isTelling: true };
  const said = lines.filter(isSaid);
  const any = said.find(isPlaceAlone) ?? said[0] ?? begins ?? lines[0];
  return any === undefined ? undefined : { line: unmarked(any) || any, isTelling: false };
}

const prose =
  /\b(?:i|i'm|i've|we|we're|you|your|my|our|me|it's|this is|that's|why|what|how|can|could|should|please|let's|don't|doesn't|didn't|isn't|want|need|still|seems|looks|fix|explain|happens|happened|yesterday|breaks|this (?:takes|fails|started|works|into|to|query|test|error)|(?:turn|convert|rewrite|change|make|translate|add|remove|move|put) (?:this|that|these|it|the)|ich|wir|bitte|warum|je|nous|pourquoi|yo|por qué|что|почему|なぜ|为什么)\b/iu;

function afterPasted(telling: string[]): { line: string; isTelling: boolean } | undefined {
  const line = telling.find((one) => /^[\p{L}"'`@(]/u.test(one) && prose.test(one) && /(?:\S+\s+){2}\S/.test(one));
  return line === undefined ? undefined : { line: unmarked(asked(line)), isTelling: true };
}

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

/** A line that announces the next, only names a place to look at, or is the beginning of a sentence. */
function withNext(line: string, lines: string[]): string {
  const next = lines[lines.indexOf(line) + 1];
  if (line.length > 100 || !next || isRule(next) || isPasted(next)) return line;
  if (line.length <= 60 && (/[:：]$/.test(line) || isBegun.test(line))) return `${line} ${unmarked(next)}`;
  return isPointer.test(line) ? `${line.replace(/[.,]$/, "")}. ${unmarked(next)}` : line;
}

const isBegun = /^(?:in|on|with|at|for|when|if|after)\b[^.!?:]{1,40}$/i;
const isPointer =
  /^(?:ok[, ]+)?(?:please )?(?:look at|take a look at|read|see|check)(?: the)? [`"']?[@.~/][\w./@~-]{2,}[`"']?[.,]?$/i;

const planStart =
  /^(?:please\s+)?(?:implement|execute|carry out|follow|here(?:'s| is))\s+(?:the\s+|this\s+|my\s+)?(?:following\s+)?(?:implementation\s+)?plan\b[^\n]{0,200}(?:\n|$)/i;
const planHeading = /^#{1,3}\s+(\S.*)$/;
export function planTitle(text: string): string | undefined {
  const start = planStart.exec(text);
  const body = start ? text.slice(start[0].length) : text;
  if (!start && !/^#{1,2}\s+(?:implementation )?plan\b/i.test(text)) return undefined;
  for (const line of body.split("\n", maxLines)) {
    const [, words = ""] = planHeading.exec(line.trim()) ?? [];
    const heading = withoutClosing(words).replace(/^(?:implementation )?plan\s*(?:[:–—-]|for\b)\s*/i, "");
    if (heading && !emptyHeading.test(heading)) return unmarked(heading);
  }
  return tellingLine(body.replace(/^#{1,6} .*$/gm, ""))?.line;
}

/** Not a regular expression, which would try each blank before the closing characters. */
function withoutClosing(heading: string): string {
  let end = heading.length;
  while (heading.charAt(end - 1) === "#") end -= 1;
  return heading.slice(0, end).trimEnd();
}
