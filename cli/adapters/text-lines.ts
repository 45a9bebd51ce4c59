import { maxWholeBytes } from "../files/line-reader.ts";

/** An array of millions of short lines would take a hundred times their text. */
const joinedLines = 4096;

export class TextLines {
  #text = "";
  #lines: string[] = [];
  #chars = 0;

  add(line: string): void {
    this.#chars += line.length + 1;
    if (this.isTooLong) return;
    if (this.#lines.push(line) >= joinedLines) this.#join();
  }

  #join(): void {
    const joined = this.#lines.join("\n");
    this.#text = this.#text === "" ? joined : `${this.#text}\n${joined}`;
    this.#lines = [];
  }

  get isEmpty(): boolean {
    return this.#chars === 0;
  }

  get isTooLong(): boolean {
    return this.#chars > maxWholeBytes;
  }

  toString(): string {
    if (this.#lines.length > 0) this.#join();
    return this.#text;
  }
}
