import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { maskForOthers } from "#common/secrets/mask";
import { planted } from "./planted.ts";

test("of 200 planted secrets of 40 kinds at least 97 % are found, and nothing of these is left for others", () => {
  expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(40);
  expect(planted.length).toBeGreaterThanOrEqual(200);
  const missed = planted.filter(({ text, secret }) => maskForOthers(text).includes(secret));
  expect(missed.length / planted.length, missed.map(({ kind, secret }) => `${kind} ${secret}`).join("\n")).toBeLessThan(
    0.03,
  );
});

test("in JSON, and in JSON in JSON, they are found as the same kinds", () => {
  const kindsIn = (text: string) => findSecrets(text).map(({ kind }) => kind);
  for (const { text, secret } of planted) {
    const [once, twice] = [JSON.stringify({ output: text }), JSON.stringify(JSON.stringify({ output: text }))];
    expect([kindsIn(once), kindsIn(twice)], text).toEqual([kindsIn(text), kindsIn(text)]);
    expect(maskForOthers(once) + maskForOthers(twice)).not.toContain(secret);
  }
});

/** A file of real sessions, as an upload has them; none is kept with the tests. */
const real = process.env.REAL_SESSIONS;

type Message = { content: string; metadata?: unknown };

test.skipIf(!real)("in real sessions at most 1 message in 500 is masked, and 1 in 50 flagged, for nothing", () => {
  const sent = JSON.parse(gunzipSync(readFileSync(real ?? "")).toString());
  const messages = (sent.traces ?? sent).flatMap((trace: { messages: Message[] }) => trace.messages) as Message[];
  const found = messages.map(({ content, metadata }) => [
    ...findSecrets(content),
    ...findSecrets(JSON.stringify(metadata ?? null)),
  ]);
  const [masked, flagged] = [true, false].map((is) => found.filter((one) => one.some(({ certain }) => certain === is)));
  expect(masked?.length).toBeLessThanOrEqual(messages.length / 500);
  expect(flagged?.length).toBeLessThanOrEqual(messages.length / 50);
});
