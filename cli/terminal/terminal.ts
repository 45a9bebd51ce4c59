import { styleText } from "node:util";

type Stream = {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  isTTY?: boolean;
  columns?: number;
};
type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const progressEveryMs = 100;

/** What the person, or the program, at the other end sees. Results go to the output, progress and faults beside it. */
export class Terminal {
  readonly isJson: boolean;
  readonly #out: Stream;
  readonly #side: Stream;
  readonly #isColoured: boolean;
  #shownAt = 0;
  #isShown = false;
  /** Why the output can't be written to any more. */
  #fault: NodeJS.ErrnoException | undefined;

  constructor(out: Stream, side: Stream, options: { isJson: boolean; env: Record<string, string | undefined> }) {
    this.#out = out;
    this.#side = side;
    this.isJson = options.isJson;
    out.on("error", (error) => {
      this.#fault ??= error;
    });
    side.on("error", () => {}); // there is no other place to say it
    const { NO_COLOR, TERM } = options.env;
    this.#isColoured = out.isTTY === true && !NO_COLOR && TERM !== "dumb" && !options.isJson;
  }

  /** Whether nobody reads the output any more, as behind `| head`. The work goes on, and ends as it would have. */
  get isUnread(): boolean {
    return this.#fault?.code === "EPIPE";
  }

  /** Why the output could not be written, where it should have been. */
  get fault(): string | undefined {
    return this.isUnread ? undefined : this.#fault?.message;
  }

  /** Text for people and programs alike. */
  write(text: string): void {
    if (!this.#fault) this.#out.write(text);
  }

  /** A line for people: nothing where JSON is wanted. */
  say(line = ""): void {
    if (this.isJson) return;
    this.clear();
    this.write(`${line}\n`);
  }

  /** The result for programs: nothing where people read. */
  json(value: unknown): void {
    if (this.isJson) this.write(`${JSON.stringify(value)}\n`);
  }

  /** What has to be seen even where the output goes into a file. */
  warn(line: string): void {
    this.clear();
    this.#side.write(`${line}\n`);
  }

  /** One line that changes while work goes on; on a terminal only. */
  progress(line: () => string): void {
    const now = performance.now();
    if (!this.#side.isTTY || this.isJson || now - this.#shownAt < progressEveryMs) return;
    this.#shownAt = now;
    this.#isShown = true;
    this.#side.write(`\r\x1b[2K${line().slice(0, (this.#side.columns ?? 80) - 1)}`);
  }

  clear(): void {
    if (this.#isShown) this.#side.write("\r\x1b[2K");
    this.#isShown = false;
  }

  style(style: Style, text: string): string {
    return this.#isColoured ? styleText(style, text, { validateStream: false }) : text;
  }

  /**
   * Rows under a heading. The first column stands to the left, the others, which are numbers, to the right. Where the
   * terminal is too narrow for that, each row is a list of what is in it.
   *
   * @param rows texts without styles
   */
  table(heading: string[], rows: string[][]): void {
    const widths = heading.map((title, column) =>
      Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map(widthOf)),
    );
    const width = widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1));
    if (width > (this.#out.columns ?? Number.POSITIVE_INFINITY)) {
      this.#lists(heading, rows);
      return;
    }
    const line = (row: string[]) =>
      row
        .map((text, column) => {
          const padding = " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(text)));
          return column === 0 ? text + padding : padding + text;
        })
        .join("  ")
        .trimEnd();
    this.say(this.style("dim", line(heading)));
    for (const row of rows) this.say(line(row));
  }

  #lists([, ...heading]: string[], rows: string[][]): void {
    const width = Math.max(...heading.map(widthOf));
    for (const [name = "", ...values] of rows) {
      this.say(name);
      for (const [index, value] of values.entries()) {
        if (value !== "0") this.say(`  ${this.style("dim", (heading[index] ?? "").padEnd(width))}  ${value}`);
      }
    }
  }
}

const widthOf = (text: string): number => [...text].length;

/** A number with thin spaces between thousands, as its language writes it. */
export const formatNumber = (value: number): string => value.toLocaleString("en-GB");

/** "1 session", "2 sessions". */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A span of time as "0:07". */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Text of a server's or a file's, without what would move the cursor or change the terminal. */
export const toPrintable = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ");
