import { expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { examples } from "./of-preset.ts";

const found = (text: string) =>
  findSecrets(text).map(({ kind, start, end }) => ({ kind, secret: text.slice(start, end) }));

test.each(examples)("what the rule $rule knows is found in any surroundings: $kind %#", ({ kind, text, secret }) => {
  for (const [before, after] of [
    ["", ""],
    ["see `", "`."],
    ["日本語：", "です"],
    ["secretlint-disable-line ", " // secretlint-disable"],
    [`${"it was 3 in the night, and ".repeat(200)}\n`, `\n${"then 4 ".repeat(500)}`],
  ] as const)
    expect(found(before + text + after), before).toEqual([{ kind, secret }]);
});

test.each(examples)("a placeholder in its place is none: $rule $kind %#", ({ text, secret }) => {
  const placeholder = secret.replace(/[A-Za-z\d]{10}/, "EXAMPLExxx");
  expect(placeholder).not.toBe(secret);
  expect(found(text.replace(secret, () => placeholder))).toEqual([]);
});

test.each(["vca", "vci", "vcr"])("a Vercel token without a digit is found: %s", (head) => {
  const secret = `${head}_kQzWbTnXrGvLmDpYcHsJfRtB`;
  expect(found(`export X=${secret}\n`)).toEqual([{ kind: "vercel", secret }]);
});

test("what is masked, a part of a word, or a name is none", () => {
  const [secret = ""] = examples.flatMap((one) => (one.secret.startsWith("vca_") ? [one.secret] : []));
  expect(found(secret)).toHaveLength(1);
  expect(found(`x${secret}`)).toEqual([]);
  expect(found("vcr_recordedResponsesDirectory = vcr_cassettesOfTheTestsBelow")).toEqual([]);
  expect(found("postgres://ada:[redacted:url-password:0a1b2c3d]@db.internal/app")).toEqual([]);
  expect(found('AWS_ACCOUNT_ID=1234-5678-9012 secret_access_key: "short"')).toEqual([]);
});
