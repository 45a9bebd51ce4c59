import { expect, test } from "vitest";
import { accountTraces } from "#lib/ledger/account";
import { readCircumstances } from "#lib/traces/usage";
import { provideOwner } from "../support/server.ts";
import { uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);

const answer = (sourceId: string, position: number, more: object) => ({
  ...{ position, content: "x", role: "assistant", createdAt: "2026-11-20T10:00:00Z" },
  metadata: { usage: { inputTokens: 1000, outputTokens: 100 }, requestId: `${sourceId}-${position}`, ...more },
});

async function usesOf(source: string, sourceId: string, model: string, more: object[]) {
  await send({ source, sourceId, model, messages: more.map((one, position) => answer(sourceId, position, one)) });
  await accountTraces(30);
  const trace = await stored(sourceId);
  const { models } = await readCircumstances(userId, trace?.id ?? "");
  return models.map(({ inputTokens, costNano, unpricedTiers }) => [inputTokens, costNano, unpricedTiers]);
}

test("each request is priced at its own tier, and a session's models stay one each", async () => {
  const uses = await usesOf("codex-cli", "own", "gpt-5.5", [{ serviceTier: "priority" }, { serviceTier: "default" }]);
  const standard = 1000 * 5000 + 100 * 30_000;
  expect(uses).toEqual([[2000, 3.5 * standard, []]]);
});

test("a tier without a price is named, and its requests cost the standard price", async () => {
  const uses = await usesOf("codex-cli", "none", "gpt-5.3-codex", [{ serviceTier: "priority" }, {}]);
  expect(uses).toEqual([[2000, 2 * (1000 * 1750 + 100 * 14_000), ["priority"]]]);
  const fast = await usesOf("claude-code", "fast", "claude-haiku-4-5", [{ serviceTier: "standard", speed: "fast" }]);
  expect(fast).toEqual([[1000, 1000 * 1000 + 100 * 5000, ["fast"]]]);
});
