import { describe, expect, test } from "vitest";
import { compare } from "#lib/transcript/files/changes";

const signs = { added: "+", removed: "-", same: " ", hunk: "@" };
const drawn = (before: string, after: string) =>
  compare(before, after).lines.map(({ type, text }) => signs[type] + text);

describe("the lines of an edit", () => {
  test("a last line without a newline counts as changed only where its text is", () => {
    const change = compare("a\nb\nc", "a\nb2\nc\nd");
    expect(change).toMatchObject({ added: 2, removed: 1 });
    expect(drawn("a\nb\nc", "a\nb2\nc\nd")).toEqual([" a", "-b", "+b2", " c", "+d"]);
    expect(drawn("a\nb\nc\nd", "a\nc")).toEqual([" a", "-b", " c", "-d"]);
    expect(drawn("a\nb\n", "a\nb\nc")).toEqual([" a", " b", "+c"]);
  });

  test("an edit of the last newline alone still shows", () => {
    expect(compare("a\nb", "a\nb\n")).toMatchObject({ added: 1, removed: 1 });
  });

  test("a text that is all new or all gone has no lines of the other", () => {
    expect(compare("", "a\nb")).toMatchObject({ added: 2, removed: 0 });
    expect(compare("a\nb", "")).toMatchObject({ added: 0, removed: 2 });
  });

  test("a line that looks like the mark of a missing newline is a line", () => {
    expect(drawn("\\ No newline at end of file", "\\ No newline at end of file\nb")).toEqual([
      " \\ No newline at end of file",
      "+b",
    ]);
  });
});
