import { describe, expect, test } from "vitest";
import { SpoorError } from "#lib/core/errors";
import { correctFilters } from "#lib/search/grammar";
import { forEachTerm } from "#lib/search/index/terms";
import { findIn } from "#lib/search/index/unit";
import { findQueryProblem, parseQuery } from "#lib/search/query";

function getTerms(text: string): Set<number> {
  const terms = new Set<number>();
  forEachTerm(text, (term) => terms.add(term));
  return terms;
}

/** Whether the index has all of a query's terms of a text, and the text all of its words and phrases. */
function isFound(text: string, q: string) {
  const query = parseQuery(q);
  const terms = getTerms(text);
  return {
    byTerms: query.units.every(({ alternatives }) =>
      alternatives.some((form) => form.every((term) => terms.has(term))),
    ),
    inText: findIn(text, query).found === query.units.length,
  };
}

const found = { byTerms: true, inText: true };
const missing = { byTerms: false, inText: false };

describe("a query", () => {
  test.each([
    ["The retry test fails", "retry"],
    ["The RETRY test fails", "Retry TEST"],
    ["The retry test fails", '"retry test"'],
    ["the retry\n    test fails", '"retry test"'],
    ["it moved to src/lib/x.ts, then", "src/lib/x.ts"],
    ["it moved to src/lib/x.ts, then", "lib/x.ts"],
    ["call foo_bar(1)", "foo_bar"],
    ["call foo_bar(1)", "bar"],
    ["call getUserName(1)", "getUserName"],
    ["call getUserName(1)", "getusername"],
    ["git rm -r --cached x", "git rm -r --cached"],
    ["we watch it", "watching"],
    ["it stopped", "stopping"],
    ["I resume it", "resumed"],
    ["after deciding", "decide"],
    ["call getUserName(1)", "user"],
    ["class HTTPServer {}", "server"],
    ["npm run bench -- --json", "--json"],
    ["it doesn’t resume", "doesn't"],
    ["这个函数返回空值", "函数"],
    ["这个函数返回空值", "空"],
    ["テストを実行する", "実行"],
    ["호출이 실패했습니다", "실패"],
    ["API設計の話", "API設計"],
    ["une idée ÉLÉGANTE", "élégante"],
    ["e\u0301tat".normalize("NFC"), "e\u0301tat"],
    ["실패", "실패".normalize("NFD")],
    ["done🎉", "done"],
    ["🚀Deploy it", "deploy"],
    ["🚀Deploy it", "🚀"],
    ["⚠️Warning", "warning"],
    ["彼は𠮷野家へ", "𠮷野家"],
    ["彼は𠮷野家へ", "野家"],
  ])("finds in %j the words of %j", (text, q) => {
    expect(isFound(text, q)).toEqual(found);
  });

  test.each([
    ["The retry test fails", "etry"],
    ["The retry test fails", '"test retry"'],
    ["The retry test fails", '"retry fails"'],
    ["foo.bar and foo bar", "foo_bar"],
    ["src/libs/x.ts", "src/lib/x.ts"],
    ["这个函数返回空值", "数函"],
    ["getUserName", "ser"],
  ])("does not find in %j the words of %j", (text, q) => {
    expect(isFound(text, q)).toEqual(missing);
  });

  test("finds parts of a long identifier, and a word of Base64 only as a whole", () => {
    expect(isFound("call toBeInTheDocumentOfAUserById()", "document")).toEqual(found);
    expect(isFound("call renameSha256OfEveryTraceInTheStore()", "every")).toEqual(found);
    const random = "EtgECkYICxgCKkA0lqZpRuDozkyvrhXlfhrBB7HlegUb2nFyHR4x";
    expect(isFound(`signature ${random}`, random)).toEqual(found);
    expect(getTerms(random).size).toBe(1);
  });

  test.each(["", "   ", '"', '""', "-> => !!", "\u0000", "“”"])("of no word is refused: %j", (q) => {
    expect(() => parseQuery(q)).toThrow(SpoorError);
  });

  test("of too many words is refused, whether they are separate or in one phrase", () => {
    expect(() => parseQuery("a ".repeat(33))).toThrow(SpoorError);
    expect(() => parseQuery(`"${"a ".repeat(33)}"`)).toThrow(SpoorError);
    expect(parseQuery("a ".repeat(32)).units).toHaveLength(32);
  });

  test.each(["a.*+?^$", "{}()|[]\\a", "a(((((", '"lone', "[^a]", "a{1,9999}", "%_a\\", "\ud800a"])(
    "takes every sign for itself: %j",
    (q) => {
      expect(() => findIn("some text, a(((((", parseQuery(q))).not.toThrow();
    },
  );

  test("marks each place once, in the order of the text", () => {
    expect(findIn("retry the retry test", parseQuery('retry "retry test"')).ranges).toEqual([
      [0, 5],
      [10, 20],
    ]);
  });
});

test.each<[string, string[], number]>([
  ["file:src/X.ts", ["/src/x.ts"], 0],
  ['alpha -file:x.ts FILE:"a b.md" “two words”', ["not /x.ts", "/a b.md"], 2],
  ["changed:x.ts -Changed:a/b.md unchanged:x", ["changed /x.ts", "not changed /a/b.md"], 1],
  ["file:./src//x.ts file:C:\\a\\b.ts", ["/src/x.ts", "/c:/a/b.ts"], 0],
  ["profile:x file: file:/", [], 3],
  ['"file:x.ts" file:""', [], 1],
])("files and words of %s", (q, files, units) => {
  const query = parseQuery(q);
  const shown = query.files.map(
    ({ ending, changed, excluded }) => `${excluded ? "not " : ""}${changed ? "changed " : ""}${ending}`,
  );
  expect(shown).toEqual(files);
  expect(query.units).toHaveLength(units);
});

test.each([
  "0000-01-01",
  "2026-02-30",
  "2026-13-01",
  "0001-01-01T00:00:00+02:00",
  "2026-01-01T25:00:00Z",
  "10000-01-01",
])("a query is not before or after a day that does not exist: %s", (day) => {
  for (const filter of ["before", "after"]) expect(() => parseQuery(`x ${filter}:${day}`)).toThrow(SpoorError);
  expect(parseQuery("x after:2026-02-28 before:2026-03-01T12:00+02:00").rows.map(({ value }) => value)).toEqual([
    "2026-02-28T00:00:00.000Z",
    "2026-03-01T10:00:00.000Z",
  ]);
});

test("a query names at most 8 files", () => {
  expect(() => parseQuery("file:a ".repeat(9))).toThrow(SpoorError);
  expect(() => parseQuery("x file:*.go")).toThrow(SpoorError);
  expect(parseQuery('file:"a*b.go"').files).toHaveLength(1);
});

test("a speaker or the title alone is no query, and says what it needs", () => {
  for (const q of ["role:thinking", "in:title", "role:tool -"])
    expect(findQueryProblem(q)).toMatch(/^needs a word beside/);
  expect(findQueryProblem("role:thinking timer")).toBeUndefined();
});

test.each([
  ["projct:lore", "project:lore"],
  ["mend -brach:main modle:opus", "mend -branch:main model:opus"],
  ["chagned:src/a.ts", "changed:src/a.ts"],
  ["Porject:lore", "project:lore"],
  ["project:lore", undefined],
  ["https://x.org/a", undefined],
  ["TypeError: x", undefined],
  ["note:this", undefined],
  ['"projct:lore"', undefined],
])("a misspelled filter is set right: %s", (q, corrected) => {
  expect(correctFilters(q)).toBe(corrected);
});
