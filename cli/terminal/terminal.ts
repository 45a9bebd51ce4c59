import { styleText } from "node:util";

type Stream = {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  isTTY?: boolean;
  columns?: number;
};
type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** A table's column. Numbers are aligned to the right, text to the left. */
export type Column = { title: string; align: "left" | "right" };

const minProgressIntervalMs = 100;

/** Writes results to standard output, and progress and errors to standard error. */
export class Terminal {
  readonly isJson: boolean;
  readonly #out: Stream;
  readonly #err: Stream;
  readonly #hasColor: boolean;
  #progressAt = 0;
  #showsProgress = false;
  #writeError: NodeJS.ErrnoException | undefined;

  constructor(out: Stream, err: Stream, options: { isJson: boolean; env: Record<string, string | undefined> }) {
    this.#out = out;
    this.#err = err;
    this.isJson = options.isJson;
    out.on("error", (error) => {
      this.#writeError ??= error;
    });
    err.on("error", () => {}); // there is nowhere left to report it
    const { NO_COLOR, TERM } = options.env;
    this.#hasColor = out.isTTY === true && !NO_COLOR && TERM !== "dumb" && !options.isJson;
  }

  /** Whether the output's reader is gone, as behind `| head`. Commands still finish their work. */
  get isUnread(): boolean {
    return this.#writeError?.code === "EPIPE";
  }

  /** The error of writing the output, where a reader is still attached. */
  get fault(): string | undefined {
    return this.isUnread ? undefined : this.#writeError?.message;
  }

  /** Writes text for people and programs alike. */
  write(text: string): void {
    if (!this.#writeError) this.#out.write(text);
  }

  /** Writes a line for people; nothing with `--json`. */
  say(line = ""): void {
    if (this.isJson) return;
    this.clear();
    this.write(`${line}\n`);
  }

  /** Writes the result for programs; nothing without `--json`. */
  json(value: unknown): void {
    if (this.isJson) this.write(`${JSON.stringify(value)}\n`);
  }

  /** Writes a line to standard error, which is seen even where the output goes to a file. */
  warn(line: string): void {
    this.clear();
    this.#err.write(`${line}\n`);
  }

  /** Replaces the progress line; on a terminal only. */
  progress(line: () => string): void {
    const now = performance.now();
    if (!this.#err.isTTY || this.isJson || now - this.#progressAt < minProgressIntervalMs) return;
    this.#progressAt = now;
    this.#showsProgress = true;
    this.#err.write(`\r\x1b[2K${line().slice(0, (this.#err.columns ?? 80) - 1)}`);
  }

  /** Removes the progress line. */
  clear(): void {
    if (this.#showsProgress) this.#err.write("\r\x1b[2K");
    this.#showsProgress = false;
  }

  style(style: Style, text: string): string {
    return this.#hasColor ? styleText(style, text, { validateStream: false }) : text;
  }

  /**
   * Writes rows below a heading. Where the terminal is too narrow, each row becomes a list of its non-zero values.
   *
   * @param rows texts without styles
   */
  table(columns: Column[], rows: string[][]): void {
    const widths = columns.map(({ title }, index) =>
      Math.max(...[title, ...rows.map((row) => row[index] ?? "")].map(widthOf)),
    );
    const width = widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1));
    if (width > (this.#out.columns ?? Number.POSITIVE_INFINITY)) {
      this.#writeLists(columns, rows);
      return;
    }
    const format = (row: string[]) =>
      row
        .map((text, index) => {
          const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
          return columns[index]?.align === "right" ? padding + text : text + padding;
        })
        .join("  ")
        .trimEnd();
    this.say(this.style("dim", format(columns.map(({ title }) => title))));
    for (const row of rows) this.say(format(row));
  }

  #writeLists([, ...columns]: Column[], rows: string[][]): void {
    const width = Math.max(...columns.map(({ title }) => widthOf(title)));
    for (const [name = "", ...values] of rows) {
      this.say(name);
      for (const [index, value] of values.entries()) {
        if (value !== "0") this.say(`  ${this.style("dim", (columns[index]?.title ?? "").padEnd(width))}  ${value}`);
      }
    }
  }
}

const widthOf = (text: string): number => [...text].length;
