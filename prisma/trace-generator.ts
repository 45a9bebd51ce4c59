// Generated traces, the same in every run for the same seed.

type GeneratedMessage = { role: string; content: string; tokenCount: number; createdAt: Date };
export type GeneratedTrace = {
  source: string;
  sourceId: string;
  model: string;
  title: string;
  project: string;
  machine: string;
  messages: GeneratedMessage[];
};

const commonWords =
  "the to a of and in is it that for on with this as be are not we can from if but or will have an by at when so then";
const technicalWords =
  "test file error function return value type build server client query index cache worker queue job retry timer message " +
  "session token user page list filter search page commit branch merge deploy schema table column row key lock thread " +
  "stream buffer parser config module import export async await promise callback request response header cookie route";
const syllables =
  "ba co da fe gi ho ja ki lo mu na or pe qui ra si ta ul ve wo xi ya zen bri cla dro fle gra pli sto tri";
const han =
  "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经";
const kana = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん";
const sources = ["claude-code", "claude-code", "claude-code", "codex-cli", "codex-cli", "gemini-cli", "cursor"];
const models = ["opus-4", "sonnet-4", "gpt-5-codex", "gemini-3-pro", "haiku-4"];
const endings = [".ts", ".tsx", ".py", ".go", ".rs", ".sql", ".md", ".json"];
const folders = ["src", "lib", "app", "tests", "cmd", "internal", "docs", "pkg"];

const dayMs = 86_400_000;
const newest = Date.UTC(2026, 10, 20);
const spanDays = 700;

/** A generator of numbers from 0 to 1 (mulberry32, by Tommy Ettinger, public domain). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Generates traces, one after the other. */
export class TraceGenerator {
  private readonly random: () => number;
  private readonly words: string[];
  private readonly phrases: string[] = [];
  private count = 0;

  constructor(seed = 1) {
    this.random = randomFrom(seed);
    const madeUpWords = Array.from({ length: 30_000 }, () =>
      this.repeat(2 + this.below(3), () => this.of(syllables.split(" "))).join(""),
    );
    this.words = [...new Set([...commonWords.split(" "), ...technicalWords.split(" "), ...madeUpWords])];
  }

  /** The next trace. @param length how many messages it has; by default 2 to 99, twenty on average */
  next(length = this.random() < 0.9 ? 2 + this.below(26) : 30 + this.below(70)): GeneratedTrace {
    const serial = this.count++;
    let at = newest - Math.floor(this.random() * spanDays * dayMs);
    const messages = Array.from({ length }, (_, position) => {
      at += 1000 + this.below(60_000);
      const content = this.content();
      return {
        role: position % 2 ? "assistant" : "user",
        content,
        tokenCount: Math.ceil(content.length / 4),
        createdAt: new Date(Math.min(at, newest)),
      };
    });
    return {
      source: this.of(sources),
      sourceId: `seed-${serial}-${this.hex(12)}`,
      model: this.of(models),
      title: this.sentence(3 + this.below(5)),
      project: `project-${this.below(1 + this.below(60))}`,
      machine: this.of(["ada-laptop", "ada-laptop", "build-box", "studio"]),
      messages,
    };
  }

  /** A message's text: 760 characters on average, half of them below 400, a few of many thousand. */
  private content(): string {
    const spread = this.random() + this.random() + this.random() - 1.5;
    const length = Math.min(20_000, 400 * Math.exp(2 * spread));
    const kind = this.random();
    let text = "";
    while (text.length < length) text += kind < 0.06 ? this.chinese() : kind < 0.5 ? this.prose() : this.code();
    return text;
  }

  private prose(): string {
    const end =
      this.random() < 0.3 ? ` in \`${this.path()}\`.\n` : this.random() < 0.5 ? `; see ${this.identifier()}.\n` : ". ";
    return this.sentence(6 + this.below(14)) + end;
  }

  private code(): string {
    const line = this.below(5);
    if (line === 0) return `import { ${this.identifier()} } from "${this.path()}";\n`;
    if (line === 1)
      return `  const ${this.identifier()} = await ${this.identifier()}(${this.word()}, ${this.below(5000)});\n`;
    if (line === 2) return `${this.path()}:${this.below(900)}: ${this.sentence(4)}\n`;
    if (line === 3) return `  if (${this.identifier()} !== ${this.word()}) throw new Error("${this.sentence(5)}");\n`;
    return `${this.hex(8)} ${this.sentence(3)}\n`;
  }

  private chinese(): string {
    const script = this.random() < 0.7 ? han : kana + han;
    return `${this.repeat(8 + this.below(20), () => script[this.below(script.length)]).join("")}。`;
  }

  /** Words, most of them in phrases that recur. */
  private sentence(words: number): string {
    const pieces: string[] = [];
    for (let left = words; left > 0; left -= 3) pieces.push(this.random() < 0.75 ? this.phrase() : this.word());
    const text = pieces.join(" ");
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  private phrase(): string {
    const place = Math.floor(20_000 ** this.random()) - 1;
    this.phrases[place] ??= this.repeat(3, () => this.word()).join(" ");
    return this.phrases[place];
  }

  private identifier(): string {
    const [first, second] = [this.word(), this.word()];
    return this.random() < 0.5 ? `${first}_${second}` : first + second.charAt(0).toUpperCase() + second.slice(1);
  }

  private path(): string {
    return `${this.of(folders)}/${this.word()}/${this.word()}${this.of(endings)}`;
  }

  /** A word; the first ones of the list are the most frequent, as in any language. */
  private word(): string {
    const place = Math.floor(this.words.length ** this.random()) - 1;
    return this.words[place] as string;
  }

  private hex(length: number): string {
    return this.repeat(length, () => "0123456789abcdef"[this.below(16)]).join("");
  }

  private repeat<T>(times: number, make: () => T): T[] {
    return Array.from({ length: times }, make);
  }

  private of<T>(values: T[]): T {
    return values[this.below(values.length)] as T;
  }

  private below(bound: number): number {
    return Math.floor(this.random() * bound);
  }
}
