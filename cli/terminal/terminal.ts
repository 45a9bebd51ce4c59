import { on } from "node:events";
import { createInterface } from "node:readline";
import { styleText } from "node:util";
import { chooseRow } from "./choose.ts";

type Stream = {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  isTTY?: boolean;
  columns?: number;
};
export type Streams = { output: Stream; errors: Stream; input: () => NodeJS.ReadStream };

/** Strings may contain anything, even text from a server or file. */
type LinePart = string | Styled;

type Options = {
  isJson: boolean;
  env: Record<string, string | undefined>;
  input?: () => NodeJS.ReadStream;
};

export type Column = { title: string; align: "left" | "right" };

const minProgressIntervalMs = 100;
/** Maximum for each part of a line, so that an error's text can't push everything else off the screen. */
const maxPartLength = 2000;

const maxGivenBytes = 1024 * 1024;

/** Everything written is one line of visible text without tokens. */
export class Terminal {
  readonly isJson: boolean;
  readonly #out: Stream;
  readonly #err: Stream;
  readonly #input: Options["input"];
  readonly #hasColor: boolean;
  /** It can't move its cursor. */
  readonly #isDumb: boolean;
  readonly #secrets = new Secrets();
  #progressAt = 0;
  #showsProgress = false;
  #writeError: NodeJS.ErrnoException | undefined;

  constructor(out: Stream, err: Stream, options: Options) {
    this.#out = out;
    this.#err = err;
    this.#input = options.input;
    this.isJson = options.isJson;
    out.on("error", (error) => {
      this.#writeError ??= error;
    });
    err.on("error", () => {});
    const { NO_COLOR, TERM, SPOOR_TOKEN } = options.env;
    this.hide(SPOOR_TOKEN ?? "");
    this.#isDumb = TERM === "dumb";
    this.#hasColor = out.isTTY === true && !NO_COLOR && !this.#isDumb && !options.isJson;
  }

  get width(): number | undefined {
    return this.#out.isTTY ? this.#out.columns : undefined;
  }

  /** The output's reader has ended, as with `| head`. Commands still finish their work. */
  get isUnread(): boolean {
    return this.#writeError?.code === "EPIPE";
  }

  get fault(): string | undefined {
    return this.isUnread ? undefined : this.#writeError?.message;
  }

  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  write(...parts: LinePart[]): void {
    this.#writeOut(this.#formatLine(parts));
  }

  say(...parts: LinePart[]): void {
    if (this.isJson) return;
    this.clear();
    this.write(...parts);
  }

  json(value: unknown): void {
    if (this.isJson) this.#writeOut(this.#secrets.hide(toPrintableJson(value)));
  }

  message(json: string): void {
    this.#writeOut(this.#secrets.hide(json));
  }

  lines(signal: AbortSignal): AsyncIterable<string> {
    const input = this.#input?.();
    if (!input) throw new Error("there is no input");
    return createInterface({ input, terminal: false, signal });
  }

  /** Writes to standard error, which is visible even if the output goes to a file. */
  warn(...parts: LinePart[]): void {
    this.clear();
    this.#err.write(`${this.#formatLine(parts)}\n`);
  }

  progress(line: () => string): void {
    const now = performance.now();
    if (!this.#err.isTTY || this.isJson || now - this.#progressAt < minProgressIntervalMs) return;
    this.#progressAt = now;
    this.#showsProgress = true;
    this.#err.write(`\r\x1b[2K${this.plain(line()).slice(0, (this.#err.columns ?? 80) - 1)}`);
  }

  clear(): void {
    if (this.#showsProgress) this.#err.write("\r\x1b[2K");
    this.#showsProgress = false;
  }

  get canAsk(): boolean {
    return !this.isJson && this.#err.isTTY === true && this.#input?.().isTTY === true;
  }

  /** @param usual the answer to an empty line @returns false if nobody can answer */
  async ask(question: string, signal: AbortSignal, usual = false): Promise<boolean> {
    if (!this.canAsk || !this.#input) return false;
    this.clear();
    this.#err.write(`${this.plain(question)} ${usual ? "[Y/n]" : "[y/N]"} `);
    const input = this.#input();
    // Streams other than files have neither `ref` nor `unref`.
    input.ref?.();
    try {
      const lines = createInterface({ input, terminal: false, signal });
      for await (const line of lines) return /^\s*y(?:es)?\s*$/i.test(line) || (usual && line.trim() === "");
      this.#err.write("\n");
      return false;
    } finally {
      // An open terminal would keep the program from ending.
      input.pause();
      input.unref?.();
    }
  }

  /** @returns the index of the row that the user chose; undefined for none, or if nobody can choose */
  async choose(rows: readonly string[], signal: AbortSignal): Promise<number | undefined> {
    if (!this.canAsk || !this.#input || this.#isDumb || rows.length === 0) return undefined;
    this.clear();
    const write = (text: string) => void this.#err.write(text);
    const screen = { write, columns: this.#err.columns ?? 80, hasColor: this.#hasColor };
    return chooseRow(
      this.#input(),
      screen,
      rows.map((row) => this.plain(row)),
      signal,
    );
  }

  /**
   * @param isHidden shows nothing of the answer
   * @returns undefined if nobody can answer
   */
  async askText(question: string, signal: AbortSignal, isHidden = false): Promise<string | undefined> {
    if (!this.canAsk || !this.#input) return undefined;
    this.clear();
    this.#err.write(`${this.plain(question)} `);
    const input = this.#input();
    input.ref?.();
    try {
      if (isHidden && typeof input.setRawMode === "function") return await this.#readHidden(input, signal);
      for await (const line of createInterface({ input, terminal: false, signal })) return line;
      this.#err.write("\n");
      return undefined;
    } finally {
      input.pause();
      input.unref?.();
    }
  }

  async #readHidden(input: NodeJS.ReadStream, signal: AbortSignal): Promise<string | undefined> {
    input.setRawMode(true);
    let text = "";
    try {
      const chunks = on(input, "data", { signal });
      input.resume(); // an earlier question has paused it
      for await (const [chunk] of chunks) {
        for (const character of String(chunk)) {
          if (character === "\r" || character === "\n") return text;
          if (character === "\u0004") return undefined;
          // In this mode the terminal itself does not interrupt.
          if (character === "\u0003") process.kill(process.pid, "SIGINT");
          else text = character === "\u007f" || character === "\b" ? text.slice(0, -1) : text + character;
        }
      }
      return undefined;
    } finally {
      input.setRawMode(false);
      this.#err.write("\n");
    }
  }

  /** Reads standard input if it is a file or pipe; empty on a terminal. */
  async readGiven(): Promise<string> {
    const input = this.#input?.();
    if (!input || input.isTTY) return "";
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of input) {
      bytes += part.length;
      if (bytes > maxGivenBytes) break;
      parts.push(Buffer.from(part));
    }
    return Buffer.concat(parts).toString();
  }

  #writeOut(line: string): void {
    if (!this.#writeError) this.#out.write(`${line}\n`);
  }

  #formatLine(parts: LinePart[]): string {
    return parts.map((part) => (part instanceof Styled ? this.#paint(part) : this.plain(part))).join("");
  }

  plain(text: string): string {
    const plain = this.#secrets.hide(toPrintable(text));
    return plain.length > maxPartLength ? `${plain.slice(0, maxPartLength)}…` : plain;
  }

  #paint({ style, text }: Styled): string {
    const plain = this.plain(text);
    return this.#hasColor ? styleText(style, plain, { validateStream: false }) : plain;
  }

  /** On a narrow terminal each row becomes a list of its non-zero values. */
  table(columns: Column[], texts: string[][]): void {
    const rows = texts.map((row) => row.map((text) => this.plain(text)));
    const widths = columns.map(({ title }, index) =>
      Math.max(...[title, ...rows.map((row) => row[index] ?? "")].map(countCharacters)),
    );
    const width = widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1));
    if (width > (this.#out.columns ?? Number.POSITIVE_INFINITY)) {
      this.#writeLists(columns, rows);
      return;
    }
    const format = (row: string[]) =>
      row
        .map((text, index) => {
          const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - countCharacters(text)));
          return columns[index]?.align === "right" ? padding + text : text + padding;
        })
        .join("  ")
        .trimEnd();
    this.say(styled("dim", format(columns.map(({ title }) => title))));
    for (const row of rows) this.say(format(row));
  }

  #writeLists([, ...columns]: Column[], rows: string[][]): void {
    const width = Math.max(...columns.map(({ title }) => countCharacters(title)));
    for (const [name = "", ...values] of rows) {
      this.say(name);
      for (const [index, value] of values.entries()) {
        if (value !== "0") this.say("  ", styled("dim", (columns[index]?.title ?? "").padEnd(width)), `  ${value}`);
      }
    }
  }
}

const countCharacters = (text: string): number => [...text].length;

/** Characters that end lines, move the cursor, start escape sequences or reorder text. */
const control = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
const invisible = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const space = /\p{Zs}/gu;
const unprintable = /(?! )[\p{Cc}\p{Z}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const toPrintable = (text: string): string => text.replace(control, " ").replace(invisible, "").replace(space, " ");

const toPrintableJson = (value: unknown): string =>
  JSON.stringify(value).replace(unprintable, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/** A server's token (lib/auth/tokens.ts), or most of one. */
const tokenShape = /spoor_[A-Za-z0-9]{24,}/g;
/** Shorter parts would hide ordinary words, and no token is that short. */
const minLength = 8;

/** Hides tokens in the output, because a server can answer with the one that it received. */
class Secrets {
  readonly #parts = new Set<string>();

  add(secret: string): void {
    for (const part of secret.split(/[^\w.~+/=-]+/)) if (part.length >= minLength) this.#parts.add(part);
  }

  hide(text: string): string {
    let hidden = text;
    for (const part of this.#parts) hidden = hidden.replaceAll(part, "[token]");
    return hidden.replace(tokenShape, "[token]");
  }
}

export const hasTokenShape = (text: string): boolean => text.search(tokenShape) !== -1;

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Only this class produces escape sequences on a terminal; in a string it is plain text. */
class Styled {
  readonly style: Style;
  readonly text: string;

  constructor(style: Style, text: string) {
    this.style = style;
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export const styled = (style: Style, text: string): Styled => new Styled(style, text);
