// Every expression runs in linear time.

export const greetings =
  "hi|hello|hey|hallo|hola|moin|yo|servus|bonjour|salut|ciao|ol[aá]|hej|привет|здравствуйте|こんにちは|おはよう|你好|您好|안녕하세요|안녕|good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend)|buen(?:os d[ií]as|as tardes)";
export const greeted = "there|claude|codex|gemini|copilot|cursor|agent|again|all|team";

const greeting = new RegExp(
  String.raw`^(?:${greetings})(?: (?:${greeted}))?[\s,.!，。！、:)🙂👋]+(?:(?:i )?hope (?:you|all)[^.!?\n]{0,40}[.!?]\s+)?(?=\S)`,
  "iu",
);

/** A title ends with the sentence that contains this character. */
const enough = 60;
const sentenceEnd = /(?<!\.|\b(?:e\.g|i\.e|vs|etc|cf|approx|no))[.!?](?=\s+[\p{L}\d"'`(@])|[。！？]/giu;
/** The words of a copied table row are in its first cell. */
const cell = /\s+[│┃║]\s/;
const path = /(?<![\w:/.@~-])@?(?:~|\.{1,2}|[A-Z]:)?(?:[\\/][\w.@%+~-]+){4,}/g;
const minPath = 40;
const issue =
  /https?:\/\/[\w.-]+\/([\w.-]+(?:\/[\w.-]+){1,4}?)\/(?:-\/)?(?:(pull|issues|work_items)|merge_requests)\/(\d{1,9})(?:[/#?][^\s`'")\]]*)?/g;

/** Files that are mentioned before and after what is said. */
const mentionsBefore = /^(?:@[\w./-]{2,200}[\s,]+){1,40}(?=[^\s@]+ [^\s@])/;
const mentionsAfter = /(?:\s?@[\w./-]{2,200}){2,40}$/;

export function worded(line: string): string {
  const said = withoutGreeting(line.replace(mentionsBefore, "").replace(mentionsAfter, "") || line);
  const column = cell.exec(said);
  const first = column && column.index > 15 ? said.slice(0, column.index) : said;
  return wholeSentences(
    first
      .replace(issue, (_, repository: string, kind: string | undefined, number: string) => {
        return `${repository}${kind ? "#" : "!"}${number}`;
      })
      .replace(path, shortened),
  );
}

function withoutGreeting(line: string): string {
  const length = greeting.exec(line)?.[0].length ?? 0;
  const rest = line.slice(length);
  return length > 0 && rest.length > 6 ? rest : line;
}

function shortened(found: string, _: number, line: string): string {
  if (found.length < minPath || found.length === line.length) return found;
  return `${found.startsWith("@") ? "@" : ""}…/${found.split(/[\\/]/).at(-1)}`;
}

function wholeSentences(line: string): string {
  if (line.length <= enough) return line;
  for (const { index } of line.matchAll(sentenceEnd)) if (index >= enough - 1) return line.slice(0, index + 1);
  return line;
}

export function cutTitle(line: string, max: number): string {
  if (line.length <= max) return line.trim();
  const begin = line.slice(0, max - 1).toWellFormed();
  const word = begin.lastIndexOf(" ");
  return word > max - 60 ? `${begin.slice(0, word).trim()}…` : line.slice(0, max).toWellFormed().trim();
}
