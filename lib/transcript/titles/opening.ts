// Every expression runs in linear time on a title, which is bounded.
import { greeted, greetings } from "#lib/transcript/titles/wording";

const openings = [
  `(?:ok(?:ay)?|alright|all right|so|now|well|right|hmm+|yes|great|thanks|thank you|cool|perfect|${greetings})(?: (?:${greeted}))?(?:[,.!…:]+|[ ]-)`,
  "(?:ok(?:ay)?|alright|so|great|thanks|hi|hello|hey)(?=[ ](?:let'?s|let us|can|could|please|i|we|now|take|going|look)\\b)",
  "(?:(?:can|could|would|will) you|(?:can|could) we)(?: (?:please|pls|kindly|also|now|just|quickly))*",
  "(?:i(?:'d| would) like|i want|i need|we want|we need|we'd like)(?: you)? to",
  "(?:i(?:'d| would) (?:like|love)|i need) (?:your|some) help(?: with)?(?= \\w+ing\\b)",
  "(?:i(?:'m| am)|we(?:'re| are)) going to",
  "(?:need|going|want) to",
  "(?:create|start|make) a new (?:git )?branch\\b[^.:!?]{0,60}?(?: focused on| so (?:that )?we can)",
  "as you know,|please|pls|kindly|let'?s|let us|go ahead and|your (?:task|job) is to|help me(?: to)?",
];
const opening = new RegExp(String.raw`^(?:${openings.join("|")})\s+(?=\S)`, "iu");
const announced =
  /^(?:address(?: (?:these|the following))?|(?:fix|do|consider|handle) (?:these|the following))(?: \d{1,3})?:\s*(?:\d{1,2}[.)]\s+)?(?=\S{0,80}\p{L}\S{0,80} \S+ \S)/iu;
/** Files to be read first. */
const reading =
  /^(?:please )?(?:read|look at|see|check|use|review)(?:(?: and|,)? (?=[\w@-]{0,80}[/.])[\w./@-]{1,200}){1,8},?(?: first)?[,.]?(?: (?:and )?then(?= \w)|(?: and)?(?: now)?(?= (?:let'?s|make|create|write|tell|implement|do|fix|plan|add|update|explain|figure|find)\b))(?: start)?\s+/i;
const studying =
  /^(?:analy[sz]e|study|explore|проанализируй|пронализируй|изучи|посмотри)\s[^@.!?]{0,60}@[\w./-]{1,100}[,.]?\s+(?=\S+ \S+ \S)/iu;
const look = /^(?:take|have) a (?:close |quick |good |deep )?look at (?=\S)/i;
const polite = /(?:,? (?:please|pls|thanks|thank you))?[?!.]*$/i;
/** "Can you mend it?" is a request; without its beginning it is no question. */
const question = /^([^.?!]{8,200})\?(?=\s)/;
const maxOpenings = 5;

/** Greetings and polite openings say nothing of the subject. */
export function withoutOpening(text: string): string {
  let rest = text;
  for (let turn = 0; turn < maxOpenings; turn += 1) {
    const next = rest.replace(opening, "").replace(reading, "").replace(studying, "");
    if (next === rest || !/\p{L}{2}[^\p{L}]+\p{L}/u.test(next)) break;
    rest = next;
  }
  const said = fromTelling(rest.replace(look, "Look at ").replace(announced, ""));
  if (said === text) return text;
  return /[.?!] /.test(said) ? said.replace(question, "$1.") : said.replace(polite, "") || said;
}

const generic = new Set(
  `a about again all also an and another any are as at be been branch but by can change changes chat check code codebase
  commit continue could create current do doc docs does doing done error errors feature few file files first fix focus folder
  following development for from get getting git go good got had has have help here how i i'd i'm if in into is issue issues it it's job
  just kick kickoff know let let's like list look make me more my need needs new next not now of off ok on one open or our out over plan
  planning please problem project push question questions read recently repo repository request review run see seeing should
  show so some something start started starting step steps stuff such switch task tasks tell test tests than that that's the
  their them then there these they thing things think this those through to today together try two up update us use want was
  we we'd we're we've well were what when where which while who why will with work working would you your`.split(/\s+/),
);
const sentence = /[.!?:](?=\s)/g;
const maxSkipped = 2;

/** Leaves out first sentences that fit any session, such as "Create a new branch.", where more follows. */
function fromTelling(text: string): string {
  let from = 0;
  for (const [turn, { index }] of [...text.matchAll(sentence)].entries()) {
    const rest = text.slice(index + 1).trim();
    const words = text.slice(from, index);
    const length = words.trim().split(" ").length;
    const isLabel = text.charAt(index) === ":" && length < 4;
    const [own, least] = [countTelling(words), length > 6 ? 2 : 1];
    if (turn >= maxSkipped || isLabel || own >= least || countTelling(rest) < own + 2) break;
    from = index + 1;
  }
  return from === 0 ? text : withoutOpening(text.slice(from).trim());
}

const countTelling = (text: string) =>
  (text.toLowerCase().match(/[\p{L}\p{N}'_./@#-]+/gu) ?? []).filter(
    (word) => !generic.has(word.replace(/[.,']+$/, "")) && word.length > 1,
  ).length;
