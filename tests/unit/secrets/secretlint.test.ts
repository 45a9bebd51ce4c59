// The recommended rules of Secretlint, which others keep: what they find, the product finds. They run here as Secretlint runs them, over
// whole texts.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { lintSource } from "@secretlint/core";
import { creator as recommended, rules } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { formed, surrounded } from "./made-up.ts";
import { examples } from "./of-preset.ts";
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

test("each rule has an example, but the one for comments that turn it off: they hide no secret here", () => {
  const named = new Set(examples.map(({ rule }) => rule));
  const names = rules.map(({ meta }) => meta.id.replace(/^.*-rule-/, ""));
  expect(names.filter((name) => !named.has(name))).toEqual(["filter-comments"]);
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
