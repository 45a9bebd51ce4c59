import { describe, expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { kinds } from "#common/secrets/kinds";
import { changeTexts, maskForOthers, replaceSecrets } from "#common/secrets/mask";
import { formed, harmless, surrounded } from "./made-up.ts";
import { planted } from "./planted.ts";

describe("what others see", () => {
  test("has no secret, and what stands around it as it was", () => {
    for (const [kind, secret] of formed) expect(maskForOthers(`a ${secret} b`)).toBe(`a [redacted:${kind}] b`);
    for (const [kind, before, secret, after] of surrounded)
      expect(maskForOthers(before + secret + after)).toBe(`${before}[redacted:${kind}]${after}`);
  });

  test("is what it is where there is none, and masked once", () => {
    for (const text of harmless) expect(maskForOthers(text)).toBe(text);
    const masked = surrounded.map(([, before, secret, after]) => maskForOthers(before + secret + after));
    for (const text of masked) expect(maskForOthers(text)).toBe(text);
  });

  test("a mark is no secret, wherever one stood", () => {
    const digits = ["0a1b2c3d", "b0618790", "c4e9aa71"];
    let count = 0;
    const mark = (kind: string) => `[redacted:${kind}:${digits[count++ % digits.length]}]`;
    const marks = (text: string) => replaceSecrets(text, findSecrets(text), mark);
    const texts = [
      ...surrounded.map(([, before, secret, after]) => before + secret + after),
      ...planted.map(({ text }) => text),
      ...kinds.flatMap(({ id }) => digits.map((one) => `cat key\n[redacted:${id}:${one}]\n`)),
    ];
    for (const text of texts) {
      expect(findSecrets(marks(text)), marks(text)).toEqual([]);
      const inJson = JSON.stringify({ output: text });
      expect(findSecrets(marks(inJson)), marks(inJson)).toEqual([]);
    }
  });

  test("what only looks like a mark hides no secret", () => {
    for (const [kind, secret] of formed) {
      for (const text of [`[redacted: ${secret}]`, `[redacted:\n${secret}\n`, `[redacted:x:1] ${secret}`])
        expect(findSecrets(text), `${kind} ${text}`).not.toEqual([]);
    }
  });
});

test("each text of a value is changed, and what has none to change is not copied", () => {
  const value = { a: ["x", { b: "y" }, 1, null], c: { d: ["z"] } };
  const now = changeTexts(value, (text) => (text === "y" ? "Y" : text));
  expect(now).toEqual({ a: ["x", { b: "Y" }, 1, null], c: { d: ["z"] } });
  expect([now.c, value.a[1]]).toEqual([value.c, { b: "y" }]);
  expect(changeTexts(value, (text) => text)).toBe(value);
});
