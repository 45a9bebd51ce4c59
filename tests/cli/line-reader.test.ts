import { join } from "node:path";
import { expect, test } from "vitest";
import { type LinePlace, readLines } from "../../cli/files/line-reader.ts";
import { makeHome } from "./home.ts";

const MiB = 1024 * 1024;
/** Lines of so many bytes in all, of which each is another one. */
function toLines(bytes: number, script: string): string[] {
  const lines: string[] = [];
  for (let left = bytes; left > 0; ) {
    const line = `${lines.length} ${script}`.repeat(1 + (lines.length % 700));
    const size = Buffer.byteLength(line) + 1;
    lines.push(size < left ? line : "x".repeat(left - 1));
    left -= Math.min(size, left);
  }
  return lines;
}

async function read(path: string, from?: LinePlace, failAt = Number.POSITIVE_INFINITY) {
  const lines: string[] = [];
  const take = (line: string, number: number) => {
    if (number >= failAt) throw new Error(`line ${number}`);
    lines.push(line);
  };
  const end = await readLines(path, take, { tooLong() {}, pause: async () => {} }, from);
  return { lines, end };
}

test.each([
  ["a few bytes", 5000],
  ["exactly one chunk", MiB],
  ["exactly three chunks", 3 * MiB],
  ["many chunks and a part", 7 * MiB + 4321],
])("the lines of a file of %s are read one by one, from its beginning and from another place", async (_, bytes) => {
  const lines = toLines(bytes, "ä函数🦊 ");
  const { home } = await makeHome({ "a.jsonl": lines.map((line) => `${line}\n`).join("") });
  const whole = await read(join(home, "a.jsonl"));
  expect(whole.lines.length).toBe(lines.length);
  expect(whole.lines.join("\n") === lines.join("\n")).toBe(true);
  expect(whole.end).toEqual({ offset: bytes, line: lines.length, isOpen: false });
  const skipped = Math.floor(lines.length / 2);
  const offset = Buffer.byteLength(lines.slice(0, skipped).join("\n")) + 1;
  const rest = await read(join(home, "a.jsonl"), { offset, line: skipped });
  expect(rest.lines.join("\n") === lines.slice(skipped).join("\n")).toBe(true);
  expect(rest.end).toEqual(whole.end);
});

test("where a reading fails while more is being read, the files after it are read as they are", async () => {
  const [first, second] = [toLines(5 * MiB, "one "), toLines(5 * MiB, "two ")];
  const { home } = await makeHome({ "1.jsonl": `${first.join("\n")}\n`, "2.jsonl": `${second.join("\n")}\n` });
  for (const failAt of [1, 200, first.length]) {
    await expect(read(join(home, "1.jsonl"), undefined, failAt)).rejects.toThrow(`line ${failAt}`);
    const { lines } = await read(join(home, "2.jsonl"));
    expect(lines.join("\n") === second.join("\n")).toBe(true);
  }
});

test("of a line that is skipped no text is made, wherever the file's chunks end", async () => {
  const lines = toLines(3 * MiB + 77, "é ");
  const { home } = await makeHome({ "a.jsonl": lines.map((line) => `${line}\n`).join("") });
  const [taken, skipped]: [number[], number[]] = [[], []];
  const skip = (line: Buffer, number: number) => {
    expect(line.equals(Buffer.from(lines[number - 1] ?? ""))).toBe(true);
    if (number % 3 === 0) skipped.push(number);
    return number % 3 === 0;
  };
  const take = (_line: string, number: number) => void taken.push(number);
  await readLines(join(home, "a.jsonl"), take, { skip, tooLong() {}, pause: async () => {} });
  expect([...taken, ...skipped].sort((a, b) => a - b)).toEqual(lines.map((_, index) => index + 1));
  expect(skipped.length).toBe(Math.floor(lines.length / 3));
});
