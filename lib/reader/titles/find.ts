// The title of a session that has none of its own, from what a person wrote in it.
import { continuedIntent, isOfProgram, readTyped } from "#lib/reader/titles/injected";
import { planTitle, tellingLine } from "#lib/reader/titles/lines";
import { cutTitle, worded } from "#lib/reader/titles/wording";

/**
 * What a derived title was made of, the best first: what a person wants, or a plan's heading; what a command was called for; an
 * answer, or what was pasted; an agent's words; the echo of a command. Those of earlier versions are below 11.
 */
export const titleRanks = { sentence: 11, subject: 12, weak: 13, answer: 14, echo: 15 } as const;
type Rank = (typeof titleRanks)[keyof typeof titleRanks];

export type DerivedTitle = { title: string; rank: Rank };

/** A message's beginning, in the order of a session's messages. */
export type Beginning = { role: string | null; text: string; kind?: string | undefined };

/** How much of a message is looked at, and how long a title may be, in characters. */
export const beginningCharacters = { user: 65_536, assistant: 2048 } as const;
const maxCharacters = 512;
const maxSubject = 120;

const cut = (line: string, max = maxCharacters) => cutTitle(line, max);

/** The kind that a message's metadata names (docs/trace-format.md). */
export const kindIn = (metadata: Record<string, unknown> | null): string | undefined =>
  typeof metadata?.kind === "string" ? metadata.kind : undefined;

/** Finds the title of a session whose messages it is shown in their order, until `isFound`. */
export class TitleFinder {
  #subject: string | undefined;
  #sentence: string | undefined;
  #weak: string | undefined;
  #answer: string | undefined;
  #echo: string | undefined;
  #noise: string | undefined;
  #isExpansionNext = false;

  get isFound(): boolean {
    return this.#sentence !== undefined;
  }

  see({ role, text, kind }: Beginning): void {
    if (this.isFound || text.trim() === "") return;
    const isExpansion = this.#isExpansionNext && role === "user";
    this.#isExpansionNext = false;
    if (role === "assistant") this.#seeAnswer(text, kind);
    else if (role !== "user") return;
    else if (isExpansion) this.#seeExpansion(text);
    else if (kind === "notice") this.#seeNotice(text);
    else this.#seeTyped(text);
  }

  /** @returns nothing where all messages are blank */
  result(): DerivedTitle | undefined {
    const subject = this.#subject;
    if (this.#sentence) {
      const said = worded(this.#sentence);
      const title = subject ? `${cut(worded(subject), maxSubject)}: ${said}` : said;
      return { title: cut(title), rank: titleRanks.sentence };
    }
    if (subject) return { title: cut(worded(subject)), rank: titleRanks.subject };
    if (this.#weak) return { title: cut(worded(this.#weak)), rank: titleRanks.weak };
    if (this.#answer) return { title: cut(worded(this.#answer)), rank: titleRanks.answer };
    const echo = this.#echo ?? this.#noise;
    return echo ? { title: cut(echo), rank: titleRanks.echo } : undefined;
  }

  /** What a program added: a caveat says less than the command that it is about. */
  #seeNotice(raw: string): void {
    const { text, command } = readTyped(raw);
    if (text === "" && !command) this.#noise ??= firstLine(raw);
    else this.#echo ??= firstLine(raw);
  }

  #seeTyped(raw: string): void {
    const { text, command, isExpanded } = readTyped(raw);
    if (command) {
      this.#isExpansionNext = isExpanded === true;
      this.#seeCommand(command);
      return;
    }
    if (text === "") {
      const intent = continuedIntent(raw);
      if (intent) this.#weak ??= tellingLine(intent)?.line;
      this.#noise ??= firstLine(raw);
      return;
    }
    const plan = planTitle(text);
    const found = plan ? { line: plan, isTelling: true } : tellingLine(text);
    if (!found?.line) return;
    if (found.isTelling) this.#sentence = found.line;
    else this.#weak ??= found.line;
  }

  #seeCommand({ name, given }: { name: string; given: string }): void {
    const called = `/${name}${given ? ` ${firstLine(given) ?? ""}` : ""}`;
    if (isOfProgram(name)) {
      this.#echo ??= called;
      return;
    }
    const said = tellingLine(given);
    const isSentence = said?.isTelling && /\S\s+\S+\s+\S/.test(said.line);
    this.#subject ??= [humanizeName(name), isSentence ? undefined : firstLine(given)].filter(Boolean).join(" ");
    if (isSentence) this.#sentence = said.line;
  }

  /** The expansion of a command: what it is about, where it says so in the form of a host's program. */
  #seeExpansion(text: string): void {
    const head = text.slice(0, 4000);
    const [, title] = /^[^\n]{0,80}\btitle:[ \t]+(\S[^\n]*)$/m.exec(head) ?? [];
    const [, number] = /^number:[ \t]+(\d+)$/m.exec(head) ?? [];
    if (title) this.#subject = number ? `${title.trim()} (#${number})` : title.trim();
  }

  #seeAnswer(text: string, kind: string | undefined): void {
    if (this.#answer !== undefined || kind !== undefined || /^\s*(?:<|Tool use:|\{|\[)/.test(text)) return;
    const found = tellingLine(text);
    if (found?.isTelling) this.#answer = found.line;
  }
}

/** A command's name as words: `pr-review` is "Pr review". */
function humanizeName(name: string): string {
  const words = (name.split(":").at(-1) ?? name)
    .replace(/[-_]+/g, " ")
    .replace(/\b(?:pr|mr|ci|ui|api|qa)\b/g, (short) => short.toUpperCase())
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The first line that is not blank. */
const firstLine = (text: string): string | undefined => /\S[^\r\n]*/.exec(text)?.[0].trim();

/** The title of a session, by the beginnings of its messages in their order; undefined where they are blank. */
export function deriveTitle(messages: Iterable<Beginning>): DerivedTitle | undefined {
  const finder = new TitleFinder();
  for (const message of messages) {
    finder.see(message);
    if (finder.isFound) break;
  }
  return finder.result();
}
