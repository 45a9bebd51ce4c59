// Secretlint's rules as they run in the product: called where a word of theirs stands.
import { expect, test } from "vitest";
import { baseRows, findByBase, leftOut, nameOf, type Stretch } from "#lib/secrets/base";
import { findSecrets } from "#lib/secrets/find";
import { kinds } from "#lib/secrets/kinds";
import { presetRules } from "#lib/secrets/preset";
import { examples, onlyOfBase } from "./of-preset.ts";

/** What the base would be shown of a text if our own table found nothing in it. */
const stretchesOf = (text: string, rows = baseRows): Stretch[] =>
  rows.flatMap((row) =>
    row.words.flatMap((word) => {
      const start = text.toLowerCase().indexOf(word.toLowerCase());
      const stretch = start < 0 ? undefined : row.stretch(text, start, start + word.length);
      return stretch ? [{ row, from: stretch[0], to: stretch[1] }] : [];
    }),
  );
const found = (text: string) =>
  findSecrets(text).map(({ kind, start, end, certain }) => ({ kind, secret: text.slice(start, end), certain }));

test("each rule of the preset is called where a word of it stands, and is there", () => {
  const names = presetRules().map(nameOf);
  const called = new Set([...baseRows.map(({ rule }) => rule), ...leftOut]);
  const missing = names.filter((name) => !called.has(name));
  expect(
    missing.map(
      (name) =>
        `${name} is never called: add a row for it to lib/secrets/base.ts, with words that stand in what it finds, or leave it out there`,
    ),
  ).toEqual([]);
  const gone = [...called].filter((name) => !names.includes(name));
  expect(
    gone.map((name) => `the preset has no rule ${name} any more: remove its rows from lib/secrets/base.ts`),
  ).toEqual([]);
});

test("each row is of a kind that there is, and has an example", () => {
  const ids = new Set(kinds.map(({ id }) => id));
  expect(baseRows.filter(({ kind }) => !ids.has(kind))).toEqual([]);
  const shown = new Set(examples.flatMap(({ text }) => stretchesOf(text).map(({ row }) => row)));
  expect(baseRows.filter((row) => !shown.has(row)).map(({ rule, words }) => `${rule} ${words[0]}`)).toEqual([]);
});

test.each(examples)(
  "the rule $rule finds its secret in a stretch of a text: $kind %#",
  ({ rule, kind, text, secret }) => {
    for (const [before, after] of [
      ["", ""],
      [`${"it was 3 in the night, and ".repeat(200)}\n`, `\n${"then 4 ".repeat(500)}`],
    ] as const) {
      const whole = before + text + after;
      const rows = baseRows.filter((row) => row.rule === rule);
      const start = whole.indexOf(secret);
      expect(findByBase(whole, stretchesOf(whole, rows))).toContainEqual({ kind, start, end: start + secret.length });
    }
  },
);

test.each(examples)("a placeholder in its place is none: $rule $kind %#", ({ text, secret }) => {
  const placeholder = secret.replace(/[A-Za-z\d]{10}(?![\s\S]*[A-Za-z\d]{10})/, "EXAMPLExxx");
  expect(placeholder).not.toBe(secret);
  const changed = text.replace(secret, () => placeholder);
  expect(findByBase(changed, stretchesOf(changed))).toEqual([]);
});

test.each(onlyOfBase)("what only the preset knows is found: $kind %#", ({ kind, secret }) => {
  const here = [{ kind, secret, certain: true }];
  for (const [before, after] of [
    ["", ""],
    ["see `", "`."],
    ["日本語：", "です"],
    ['"line one\\n', '\\n"'],
    ["secretlint-disable-line ", " // secretlint-disable"],
  ] as const)
    expect(found(before + secret + after), before).toEqual(here);
  expect(found(`${secret}\n`.repeat(3))).toEqual([...here, ...here, ...here]);
});

test("what is certain wins over a name beside it, whoever found it", () => {
  const [{ kind, secret } = { kind: "", secret: "" }] = onlyOfBase;
  expect(found(`token: "${secret}"`)).toEqual([{ kind, secret, certain: true }]);
  expect(found(`DEPLOY_TOKEN=${secret}`)).toMatchObject([{ secret, certain: true }]);
});

test("what is masked, a part of a word, or a name is none", () => {
  const [{ secret } = { secret: "" }] = onlyOfBase;
  expect(found(`x${secret}`)).toEqual([]);
  expect(found("vcr_recordedResponsesDirectory = vcr_cassettesOfTheTestsBelow")).toEqual([]);
  expect(found("postgres://ada:[redacted:url-password:0a1b2c3d]@db.internal/app")).toEqual([]);
});

test("what the preset's rules only do when they are told to stays off: ids of accounts and keys", () => {
  const id = ["AKIA", "Q3EGWZB5T2NKX7RM"].join("");
  const text = `AWS_ACCOUNT_ID=1234-5678-9012 ${id} secret_access_key: "short"`;
  const rows = baseRows.filter(({ rule }) => rule === "aws");
  expect(
    findByBase(
      text,
      rows.map((row) => ({ row, from: 0, to: text.length })),
    ),
  ).toEqual([]);
});

test("it is found behind many words of the base that are none", () => {
  const [{ kind, secret } = { kind: "", secret: "" }] = onlyOfBase;
  for (const word of ["npm_config_registry=a ", "tskey-auth-x ", "-----BEGIN PRIVATE KEY----- "])
    expect(found(word.repeat(900) + secret), word).toEqual([{ kind, secret, certain: true }]);
});
