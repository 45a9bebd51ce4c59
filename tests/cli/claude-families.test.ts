import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { longTest } from "../support/long.ts";
import { computeTruth, type Family, makeFamily } from "./claude-families.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

/** What counts of a family's files. */
async function readCounts({ files }: Family): Promise<ReturnType<typeof computeTruth>> {
  const host = await makeHome(
    Object.fromEntries([...files].map(([name, lines]) => [`.claude/projects/-p/${name}.jsonl`, toLines(...lines)])),
  );
  const { sessions } = await parseAll(claudeCode, host);
  await rm(host.home, { recursive: true });
  const own = sessions.flatMap(({ messages }) => messages).filter(({ metadata }) => !metadata?.replayed);
  const totals = sessions.map(({ ending }) => (ending.metadata?.usage as { outputTokens?: number })?.outputTokens ?? 0);
  const tokens = own.reduce((sum, { tokenCount = 0 }) => sum + tokenCount, 0);
  expect(totals.reduce((sum, total) => sum + total, 0)).toBe(tokens);
  const commits = sessions.flatMap(({ ending }) => (ending.metadata?.commits as object[] | undefined) ?? []);
  return { messages: own.length, tokens, commits: commits.length };
}

async function compare(from: number, to: number): Promise<void> {
  for (let seed = from; seed < to; seed++) {
    const family = makeFamily(seed);
    expect(await readCounts(family), `family ${seed}`).toEqual(computeTruth(family));
  }
}

test("every line, token and commit of a random family counts once, whatever of it is gone", () => compare(0, 25));

longTest("every line, token and commit of 10,000 random families counts once", { timeout: 1_200_000 }, () =>
  compare(25, 10_025),
);
