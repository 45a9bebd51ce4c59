import { describe, expect, test } from "vitest";
import { findSecrets, hasNoKeyword, mayNameSecret } from "#common/secrets/find-secrets";
import { kinds, marks } from "#common/secrets/kinds";
import { findingsQuery } from "#lib/findings/schema";
import { makeRandom } from "../../support/random.ts";
import { formed, harmless, surrounded } from "./made-up.ts";

const found = (text: string) =>
  findSecrets(text).map(({ kind, start, end, certain }) => ({ kind, secret: text.slice(start, end), certain }));
const isCertain = new Map(kinds.map(({ id, certain }) => [id, certain]));

describe("a secret is found, with its place and kind,", () => {
  test.each(formed)("by its form: %s %#", (kind, secret) => {
    const here = [{ kind, secret, certain: true }];
    for (const [before, after] of [
      ["", ""],
      ["export X=", "\n"],
      ['{"x":"', '"}'],
      ["see `", "`."],
      ["日本語：", "です"],
      ['"line one\\n', '\\n"'],
    ] as const) {
      expect(found(before + secret + after), before).toEqual(here);
    }
  });

  test.each(surrounded)("by what stands beside it: %s %#", (kind, before, secret, after) => {
    expect(found(before + secret + after)).toEqual([{ kind, secret, certain: isCertain.get(kind) }]);
  });

  test("in a long text among others, in their order", () => {
    const random = makeRandom(3);
    const words = "the retry timer of the watcher is set in src/lib/x.ts and 42 others".split(" ");
    const prose = () => Array.from({ length: 200 }, () => words[Math.floor(random() * words.length)]).join(" ");
    const text = formed.map(([, secret]) => `${prose()} ${secret} `).join("");
    expect(found(text).map(({ secret }) => secret)).toEqual(formed.map(([, secret]) => secret));
  });

  test("behind much that looks like one at first sight", () => {
    for (const words of [
      '"input_tokens":1200,"cached_tokens":0,',
      "see http://a.b/c ",
      "a token b ",
      '"token": "abc", ',
    ])
      expect(found(`${words.repeat(20_000)}password: "Tr0ub4dor&3x"`), words).toHaveLength(1);
  });

  test("across the pieces in which a text is read", () => {
    const [kind, secret] = formed[1] as [string, string];
    for (const before of [65_500, 65_534, 65_536, 131_070]) {
      expect(found(`${"x ".repeat(before / 2)}${secret} end`)).toEqual([{ kind, secret, certain: true }]);
    }
  });
});

test("a name tells of a secret where it is of one, and not where it is of several, which are counted", () => {
  const names = ["apiToken", "password", "key", "inputTokens", "cacheReadTokens", "secrets", "path", "createdAt"];
  expect(names.filter(mayNameSecret)).toEqual(["apiToken", "password", "key"]);
});

test("a text that says nothing holds no secret, and does not tell of one", () => {
  const texts = [...formed, ...surrounded].flatMap((parts) => [parts.slice(1).join(""), ...parts.slice(1)]);
  const silent = [...texts, ...harmless, "createdAt", "user"].filter((text) => hasNoKeyword(text));
  expect(silent).toEqual(expect.arrayContaining(["createdAt", "user"]));
  expect(silent.filter((text) => mayNameSecret(text) || findSecrets(text).length > 0)).toEqual([]);
});

test.each(harmless)("%s is none", (text) => {
  expect(found(text)).toEqual([]);
});

test("each kind has an id, a name and advice of its own", () => {
  expect(new Set(kinds.map(({ id }) => id)).size).toBe(kinds.length);
  for (const { id, name, rotate } of kinds)
    expect([id, name.length > 3, rotate.length > 5]).toEqual([findingsQuery.parse({ kind: id }).kind, true, true]);
  for (const { id } of kinds) expect(`[redacted:${id}:0a1b2c3d]`.match(marks)).toHaveLength(1);
});

test("in a run of Base64, as of an image, no letters are a secret", () => {
  const key = ["AKIA", "Q3EGWZB5T2NKX7RM"].join("");
  expect(findSecrets(`data:image/png;base64,${"aB3/x+9Q".repeat(20)}/${key}`)).toEqual([]);
  expect(findSecrets(`https://host.example/keys/${key}`)).toHaveLength(1);
  // Several in one run: how much of it stands before is known from the one before.
  const keys = `/${key}/${key}`;
  expect(
    findSecrets(`${"aB3/x+9Q".repeat(20)}${keys}${"aB3/x+9Q".repeat(9)}${keys} https://host.example/keys/${key}`),
  ).toHaveLength(1);
});
