import { createInterface } from "node:readline";
import { styleText } from "node:util";
import { toPrintable, toPrintableJson } from "./printable.ts";
import { Secrets } from "./secrets.ts";
import { Styled, styled } from "./styled.ts";

type Stream = {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  isTTY?: boolean;
  columns?: number;
};
/** The streams that a terminal writes to, and the one that it reads answers from. */
export type Streams = { output: Stream; errors: Stream; input: () => NodeJS.ReadStream };

/** A part of a line. Strings may hold anything, also what a server or a file supplied. */
type LinePart = string | Styled;

type Options = {
  isJson: boolean;
  env: Record<string, string | undefined>;
  /** Where answers to questions come from. */
  input?: () => NodeJS.ReadStream;
};

/** A table's column. Numbers are aligned to the right, text to the left. */
export type Column = { title: string; align: "left" | "right" };

const minProgressIntervalMs = 100;
/** Of each part of a line: an error's text must not push everything else off the screen. */
const maxPartLength = 2000;

/**
 * Writes results to standard output, and progress and errors to standard error. Whatever is written passes through here, and
 * is one line of visible text without tokens; only styles of ours become escape sequences.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly #out: Stream;
  readonly #err: Stream;
  readonly #input: Options["input"];
  readonly #hasColor: boolean;
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
    err.on("error", () => {}); // there is nowhere left to report it
    const { NO_COLOR, TERM, SPOOR_TOKEN } = options.env;
    this.hide(SPOOR_TOKEN ?? "");
    this.#hasColor = out.isTTY === true && !NO_COLOR && TERM !== "dumb" && !options.isJson;
  }

  /** How many characters fit into a line; undefined where the output is no terminal. */
  get width(): number | undefined {
    return this.#out.isTTY ? this.#out.columns : undefined;
  }

  /** Whether the output's reader is gone, as behind `| head`. Commands still finish their work. */
  get isUnread(): boolean {
    return this.#writeError?.code === "EPIPE";
  }

  /** The error of writing the output, where a reader is still attached. */
  get fault(): string | undefined {
    return this.isUnread ? undefined : this.#writeError?.message;
  }

  /** Keeps a token out of everything that is written from now on. */
  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  /** Writes a line for people and programs alike. */
  write(...parts: LinePart[]): void {
    this.#writeOut(this.#formatLine(parts));
  }

  /** Writes a line for people; nothing with `--json`. */
  say(...parts: LinePart[]): void {
    if (this.isJson) return;
    this.clear();
    this.write(...parts);
  }

  /** Writes the result for programs; nothing without `--json`. */
  json(value: unknown): void {
    if (this.isJson) this.#writeOut(this.#secrets.hide(toPrintableJson(value)));
  }

  /** Writes a message of a protocol, which is one line of JSON for a program, as it is, but for tokens. */
  message(json: string): void {
    this.#writeOut(this.#secrets.hide(json));
  }

  /** The lines of the input, until it ends. */
  lines(signal: AbortSignal): AsyncIterable<string> {
    const input = this.#input?.();
    if (!input) throw new Error("there is no input");
    return createInterface({ input, terminal: false, signal });
  }

  /** Writes a line to standard error, which is seen even where the output goes to a file. */
  warn(...parts: LinePart[]): void {
    this.clear();
    this.#err.write(`${this.#formatLine(parts)}\n`);
  }

  /** Replaces the progress line; on a terminal only. */
  progress(line: () => string): void {
    const now = performance.now();
    if (!this.#err.isTTY || this.isJson || now - this.#progressAt < minProgressIntervalMs) return;
    this.#progressAt = now;
    this.#showsProgress = true;
    this.#err.write(`\r\x1b[2K${this.plain(line()).slice(0, (this.#err.columns ?? 80) - 1)}`);
  }

  /** Removes the progress line. */
  clear(): void {
    if (this.#showsProgress) this.#err.write("\r\x1b[2K");
    this.#showsProgress = false;
  }

  /** Whether somebody is there to answer a question. */
  get canAsk(): boolean {
    return !this.isJson && this.#err.isTTY === true && this.#input?.().isTTY === true;
  }

  /**
   * Asks a question whose answer is no unless it is yes.
   *
   * @param usual what an empty line means
   * @returns false where nobody can answer
   */
  async ask(question: string, signal: AbortSignal, usual = false): Promise<boolean> {
    if (!this.canAsk || !this.#input) return false;
    this.clear();
    this.#err.write(`${this.plain(question)} ${usual ? "[Y/n]" : "[y/N]"} `);
    const input = this.#input();
    // Streams that are no files have neither `ref` nor `unref`.
    input.ref?.();
    try {
      const lines = createInterface({ input, terminal: false, signal });
      for await (const line of lines) return /^\s*y(?:es)?\s*$/i.test(line) || (usual && line.trim() === "");
      this.#err.write("\n"); // the input ended, and the cursor stands behind the question
      return false;
    } finally {
      // A terminal that was read from would keep the program from ending.
      input.pause();
      input.unref?.();
    }
  }

  #writeOut(line: string): void {
    if (!this.#writeError) this.#out.write(`${line}\n`);
  }

  #formatLine(parts: LinePart[]): string {
    return parts.map((part) => (part instanceof Styled ? this.#paint(part) : this.plain(part))).join("");
  }

  /** A text as it is shown: visible, in one line of a bounded length, without tokens. */
  plain(text: string): string {
    const plain = this.#secrets.hide(toPrintable(text));
    return plain.length > maxPartLength ? `${plain.slice(0, maxPartLength)}…` : plain;
  }

  #paint({ style, text }: Styled): string {
    const plain = this.plain(text);
    return this.#hasColor ? styleText(style, plain, { validateStream: false }) : plain;
  }

  /** Writes rows below a heading. Where the terminal is too narrow, each row becomes a list of its non-zero values. */
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
