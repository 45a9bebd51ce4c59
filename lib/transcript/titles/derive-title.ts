import { continuedIntent, isProgramCommand, readTyped } from "#lib/transcript/titles/injected";
import { planTitle, tellingLine } from "#lib/transcript/titles/lines";
import { cutTitle, worded } from "#lib/transcript/titles/wording";

/** Best first. Earlier versions' ranks are below 11; their titles are derived again. */
export const titleRanks = { sentence: 11, subject: 12, weak: 13, answer: 14, echo: 15 } as const;
type Rank = (typeof titleRanks)[keyof typeof titleRanks];

export type DerivedTitle = { title: string; rank: Rank };

export type Beginning = { role: string | null; text: string; kind?: string | undefined };

export const beginningCharacters = { user: 65_536, assistant: 2048 } as const;
const maxCharacters = 512;
const maxSubject = 120;

const cut = (line: string, max = maxCharacters) => cutTitle(line, max);

export const kindIn = (metadata: Record<string, unknown> | null): string | undefined =>
  typeof metadata?.kind === "string" ? metadata.kind : undefined;

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

  /** @returns nothing if all messages are blank */
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
    if (isProgramCommand(name)) {
      this.#echo ??= called;
      return;
    }
    const said = tellingLine(given);
    const isSentence = said?.isTelling && /\S\s+\S+\s+\S/.test(said.line);
    this.#subject ??= [humanizeName(name), isSentence ? undefined : firstLine(given)].filter(Boolean).join(" ");
    if (isSentence) this.#sentence = said.line;
  }

  /** Some hosts' programs write the subject into a command's expansion. */
  #seeExpansion(text: string): void {
    const head = text.slice(0, 4000);
    const [, title] = /^[^\n]{0,80}\btitle:[ \t]+(\S[^\n]*)$/m.exec(head) ?? [];
    const [, number] = /^number:[ \t]+(\d+)$/m.exec(head) ?? [];
    const [, branch] = /^(?:[^\n]{0,40}: )?On branch (\S{1,80})$/m.exec(head) ?? [];
    if (title) this.#subject = number ? `${title.trim()} (#${number})` : title.trim();
    else if (branch && !sharedBranches.has(branch)) this.#subject = `${this.#subject} (${branch})`;
  }

  #seeAnswer(text: string, kind: string | undefined): void {
    if (this.#answer !== undefined || kind !== undefined || /^\s*(?:<|Tool use:|\{|\[)/.test(text)) return;
    const found = tellingLine(text);
    if (found?.isTelling && !readiness.test(found.line)) this.#answer = found.line;
  }
}

const sharedBranches = new Set(["main", "master", "dev", "develop", "trunk"]);

/** Sub-agents answer so when they are only started. */
const readiness =
  /^(?:hi|hello|hey|understood|i understand|ready|got it|sure|how can i|what (?:can|would|do)|i(?:'m| am|'ll| will| can)\b[^.!\n]{0,80}\b(?:ready|help|assist|waiting))\b/i;

/** `pr-review` becomes "Pr review". */
function humanizeName(name: string): string {
  const words = (name.split(/:|__/).at(-1) ?? name)
    .replace(/[-_]+/g, " ")
    .replace(/\b(?:pr|mr|ci|ui|api|qa)\b/g, (short) => short.toUpperCase())
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const firstLine = (text: string): string | undefined => /\S[^\r\n]*/.exec(text)?.[0].trim();

export function deriveTitle(messages: Iterable<Beginning>): DerivedTitle | undefined {
  const finder = new TitleFinder();
  for (const message of messages) {
    finder.see(message);
    if (finder.isFound) break;
  }
  return finder.result();
}
