import { expect, test } from "vitest";
import { maxLineBytes } from "../../cli/files/line-reader.ts";
import { LineShortener } from "../../cli/files/line-shortener.ts";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

/** A line as it is shortened, read in parts of each of these sizes. */
function shorten(line: string, maxTextBytes: number, maxBytes = 100_000): string[] {
  const bytes = Buffer.from(line);
  return [1, 2, 3, 7, 1000].map((size) => {
    const shortener = new LineShortener(maxBytes, maxTextBytes);
    for (let at = 0; at < bytes.length; at += size) shortener.add(bytes.subarray(at, at + size));
    return shortener.isFull ? "full" : shortener.line().toString();
  });
}

const note = (bytes: number) => `\n[Spoor: ${bytes} bytes are missing here: it is too long.]`;

test.each([
  ["letters", "abcdefghij", "abcde", 5],
  ["characters of several bytes", "漢漢漢", "漢漢", 3],
  ["escapes", 'a"b\\"c"d', 'a"b\\', 4],
  ["escaped units", "ab\u0001\u0002", "ab\u0001", 1],
  ["nothing", "abcde", "abcde", 0],
])("the end of a long text (%s) is replaced by a note that says how much is missing", (_, text, kept, missing) => {
  const line = JSON.stringify({ "a key": [1, text, { b: "x" }] });
  const expected = { "a key": [1, missing > 0 ? kept + note(missing) : kept, { b: "x" }] };
  for (const short of shorten(line, 5)) expect(JSON.parse(short)).toEqual(expected);
});

test("a line that is long without its texts is full", () => {
  expect(new Set(shorten(JSON.stringify(Array(1000).fill(1)), 5, 1000))).toEqual(new Set(["full"]));
});

// In a file of 100 MB, with the memory that it takes, in tests/long/cli/large.test.ts.
test("a line that is too long is sent shortened, and one that is full is missing with a note", async () => {
  const { fake, home, run } = await world(0);
  const others = toLines(...claudeLines(makeId(1), 1));
  const text = { type: "user", message: { role: "user", content: "y".repeat(maxLineBytes + 1000) } };
  const full = { type: "user", message: { content: Array(maxLineBytes / 2 + 1).fill(0) } };
  await writeBelow(home, claudePath(1), others + toLines(text, full));
  const { code, errors } = await run(["push"]);
  expect([code, errors]).toEqual([0, expect.stringContaining("the line is too long")]);
  expect(fake.archive.get(`claude-code/${makeId(1)}`)).toBe(4 + 2);
  const [shortened, missing] = fake.uploads.flatMap(({ traces }) => traces[0]?.messages ?? []).slice(-2);
  expect(shortened?.content.replaceAll("y", "")).toMatch(
    /^\n\[Spoor: [\d,]+ btes are missing here: it is too long\.\]$/,
  );
  expect(shortened?.content.length).toBeGreaterThan(maxLineBytes / 3);
  expect(missing?.content).toMatch(/^\[Spoor: line \d+ is longer than 22 MiB and is missing here\.\]$/);
});
