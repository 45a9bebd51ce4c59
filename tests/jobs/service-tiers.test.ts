import { expect, test } from "vitest";
import { accountTraces } from "#lib/ledger/account";
import { readFamilies } from "#lib/traces/family";
import { readCircumstances } from "#lib/traces/usage";
import { answerUsage } from "#lib/usage/answer";
import { formatCsv } from "#lib/usage/csv";
import { usageQuery } from "#lib/usage/schema";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

const answer = (sourceId: string, position: number, more: object) => ({
  ...{ position, content: "x", role: "assistant", createdAt: "2026-11-20T10:00:00Z" },
  metadata: { usage: { inputTokens: 1000, outputTokens: 100 }, requestId: `${sourceId}-${position}`, ...more },
});

async function readUses(source: string, sourceId: string, model: string, more: object[]) {
  await send({ source, sourceId, model, messages: more.map((one, position) => answer(sourceId, position, one)) });
  await accountTraces(30);
  const trace = await stored(sourceId);
  const { models } = await readCircumstances(userId, trace?.id ?? "");
  return models.map(({ inputTokens, costNano, tiersNotPriced }) => [inputTokens, costNano, tiersNotPriced]);
}

test("each request is priced at its own tier, and a session's models stay one each", async () => {
  const uses = await readUses("codex-cli", "own", "gpt-5.5", [{ serviceTier: "priority" }, { serviceTier: "default" }]);
  const standard = 1000 * 5000 + 100 * 30_000;
  expect(uses).toEqual([[2000, 3.5 * standard, []]]);
});

test("a tier without a price is named, and its requests cost the standard price", async () => {
  const uses = await readUses("codex-cli", "none", "gpt-5.3-codex", [{ serviceTier: "priority" }, {}]);
  expect(uses).toEqual([[2000, 2 * (1000 * 1750 + 100 * 14_000), ["priority"]]]);
  const fast = await readUses("claude-code", "fast", "claude-haiku-4-5", [{ serviceTier: "standard", speed: "fast" }]);
  expect(fast).toEqual([[1000, 1000 * 1000 + 100 * 5000, ["fast"]]]);
});

test("the sums of what came from a session say how many of its tokens have no price at their tier", async () => {
  const parent = { source: "claude-code", sourceId: "parent", messages: [{ position: 0, content: "x" }] };
  const child = { source: "claude-code", sourceId: "parent/agent-a", metadata: { parent: "parent" } };
  const fast = answer("child", 0, { speed: "fast" });
  await send(parent, {
    ...child,
    model: "claude-haiku-4-5",
    messages: [{ ...fast, createdAt: "2026-10-20T10:00:00Z" }],
  });
  await accountTraces(30);
  const { id = "" } = (await stored("parent")) ?? {};
  const family = (await readFamilies(userId, [id], 10)).get(id);
  expect(family?.sums).toMatchObject({ tierNotPricedTokens: 1100, unpricedTokens: 0 });
  expect(family?.members.map(({ own }) => own.tierNotPricedTokens)).toEqual([1100]);
});

test("the tokens of tiers without a price are counted in the session, the report and its CSV", async () => {
  const tokens = async (sourceId: string) => (await stored(sourceId))?.usage;
  expect(await tokens("own")).toMatchObject({ tierNotPricedTokens: 0 });
  expect(await tokens("none")).toMatchObject({ inputTokens: 2000, tierNotPricedTokens: 1100, unpricedTokens: 0 });
  const usage = { inputTokens: 1000, outputTokens: 100 };
  const requests = [
    { inputTokens: 400, outputTokens: 50 },
    { inputTokens: 600, outputTokens: 50 },
  ];
  await readUses("claude-code", "twice", "claude-haiku-4-5", [{ usage, requests, speed: "fast" }]);
  expect(await tokens("twice")).toMatchObject({ tierNotPricedTokens: 1100 });
  await readUses("codex-cli", "nobody's", "nobody-knows-1", [{ serviceTier: "priority" }]);
  expect(await tokens("nobody's")).toMatchObject({ tierNotPricedTokens: 0, unpricedTokens: 1100 });

  const query = usageQuery.parse({ from: "2026-11-20", to: "2026-11-20", by: "model" });
  const report = await answerUsage(userId, query);
  expect(report.total).toMatchObject({ tierNotPricedTokens: 3300, unpricedTokens: 1100 });
  expect(Object.fromEntries(report.values?.map((one) => [one.value, one.tierNotPricedTokens]) ?? [])).toEqual({
    ...{ "gpt-5.5": 0, "gpt-5.3-codex": 1100, "claude-haiku-4-5": 2200, "nobody-knows-1": 0 },
  });
  const [head = "", ...rows] = formatCsv(report).split("\r\n");
  const place = head.split(",").indexOf("tier_not_priced_tokens");
  expect(rows.find((row) => row.includes("gpt-5.3-codex"))?.split(",")[place]).toBe("1100");
  // A part of a day is summed from the messages.
  const part = await answerUsage(
    userId,
    usageQuery.parse({ from: "2026-11-20T09:45:00Z", to: "2026-11-20T10:15:00Z" }),
  );
  expect(part.total.tierNotPricedTokens).toBe(3300);
});
