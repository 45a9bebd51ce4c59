// Secretlint's recommended rules run in the product as its base, over stretches of a text (base.test.ts). Here they run over whole
// texts, as Secretlint itself runs them: what they find, the product finds.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { lintSource } from "@secretlint/core";
import { creator as recommended } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { findSecrets } from "#lib/secrets/find";
import { formed, surrounded } from "./made-up.ts";
import { examples, onlyOfBase } from "./of-preset.ts";
import { planted } from "./planted.ts";

type Place = { rule: string; start: number; end: number };

async function findBySecretlint(content: string): Promise<Place[]> {
  const { messages } = await lintSource({
    source: { filePath: "session.txt", ext: ".txt", contentType: "text", content },
    options: { config: { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: recommended }] } },
  });
  return messages.map(({ ruleId, range: [start, end] }) => ({ rule: ruleId.replace(/.*-rule-/, ""), start, end }));
}

/** What Secretlint finds in a text and the product does not. */
async function missedIn(text: string): Promise<{ found: Place[]; missed: string[] }> {
  const [found, own] = [await findBySecretlint(text), findSecrets(text)];
  const isOwn = ({ start, end }: Place) => own.some((one) => one.start < end && one.end > start);
  return {
    found,
    missed: found.filter((one) => !isOwn(one)).map(({ rule, start, end }) => `${rule}: ${text.slice(start, end)}`),
  };
}

test("what Secretlint finds among made-up secrets is found", { timeout: 60_000 }, async () => {
  const texts = [
    ...formed.map(([, secret]) => secret),
    ...surrounded.map(([, before, secret, after]) => before + secret + after),
    ...planted.map(({ text }) => text),
    ...examples.map(({ text }) => text),
  ];
  const results = await Promise.all(texts.map(missedIn));
  expect(new Set(results.flatMap(({ found }) => found.map(({ rule }) => rule))).size).toBeGreaterThanOrEqual(26);
  expect(results.flatMap(({ missed }) => missed)).toEqual([]);
});

test("the base runs: what Secretlint alone knows the form of is found as it finds it", async () => {
  const text = onlyOfBase.map(({ secret }, index) => `the key ${index} is ${secret}`).join("\n");
  const whole = (await findBySecretlint(text)).map(({ start, end }) => [start, end]);
  expect(whole).toHaveLength(onlyOfBase.length);
  expect(findSecrets(text).map(({ start, end }) => [start, end])).toEqual(whole.sort(([a = 0], [b = 0]) => a - b));
});

/** A file of real sessions, as an upload has them; none is kept with the tests. */
const real = process.env.REAL_SESSIONS;

test.skipIf(!real)("and in real sessions", { timeout: 600_000 }, async () => {
  const sent = JSON.parse(gunzipSync(readFileSync(real ?? "")).toString());
  const missed: string[] = [];
  for (const trace of sent.traces ?? sent)
    for (const { content } of trace.messages) missed.push(...(await missedIn(content)).missed);
  expect(missed).toEqual([]);
});
