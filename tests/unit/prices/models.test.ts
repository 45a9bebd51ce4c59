import { describe, expect, it, test } from "vitest";
import { getModelFamily, parseModelName } from "#lib/prices/model";
import { computePrice } from "#lib/prices/price";
import { findEstimate, findTariff } from "#lib/prices/tariff";

/** A name as an agent writes it; the model; dollars for a million tokens of input and output in November 2026, if any. */
const names: [string, string | undefined, [number, number]?][] = [
  ["claude-opus-4-5-20251101", "claude-opus-4-5", [5, 25]],
  ["claude-opus-4-5-20251101 2026-01-13T16:29:53.808Z", "claude-opus-4-5", [5, 25]],
  ["claude-opus-4-6[1m]", "claude-opus-4-6", [5, 25]],
  ["claude-opus-4-8", "claude-opus-4-8", [5, 25]],
  ["claude-opus-4.8-fast", "claude-opus-4-8", [10, 50]],
  ["claude-fable-5", "claude-fable-5", [10, 50]],
  ["claude-4-sonnet", "claude-sonnet-4", [3, 15]],
  ["claude-sonnet-4-20250514", "claude-sonnet-4", [3, 15]],
  ["claude-sonnet-4@20250514", "claude-sonnet-4", [3, 15]],
  ["claude-4.5-opus-high-thinking", "claude-opus-4-5", [5, 25]],
  ["claude-4-sonnet-1m-thinking", "claude-sonnet-4", [3, 15]],
  ["Claude Opus 4.5", "claude-opus-4-5", [5, 25]],
  ["Claude Opus 4.5 (Thinking)", "claude-opus-4-5", [5, 25]],
  ["claude-3-5-haiku-latest", "claude-3-5-haiku", [0.8, 4]],
  ["claude-3.7-sonnet", "claude-3-7-sonnet", [3, 15]],
  ["claude-3-7-sonnet-20250219", "claude-3-7-sonnet", [3, 15]],
  ["anthropic/claude-opus-4.5", "claude-opus-4-5", [5, 25]],
  ["openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5", [5, 25]],
  ["copilot/claude-opus-4.7", "claude-opus-4-7", [5, 25]],
  ["us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5", [5.5, 27.5]],
  ["bedrock/global.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5", [5, 25]],
  [
    "arn:aws:bedrock:us-east-1:12345:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
    "claude-opus-4-5",
    [5.5, 27.5],
  ],
  ["vertex_ai/claude-opus-4-8@20260601", "claude-opus-4-8", [5, 25]],
  ["projects/p/locations/global/publishers/anthropic/models/claude-opus-4-8", "claude-opus-4-8", [5, 25]],
  ["gpt-5", "gpt-5", [1.25, 10]],
  ["gpt-5-codex", "gpt-5-codex", [1.25, 10]],
  ["gpt-5.1-codex-max", "gpt-5.1-codex-max", [1.25, 10]],
  ["gpt-5.1-codex-max-xhigh", "gpt-5.1-codex-max", [1.25, 10]],
  ["gpt-5.1-codex-mini", "gpt-5.1-codex-mini", [0.25, 2]],
  ["GPT-5.1-Codex (high)", "gpt-5.1-codex", [1.25, 10]],
  ["gpt-5-2", "gpt-5.2", [1.75, 14]],
  ["openai/gpt-5.2", "gpt-5.2", [1.75, 14]],
  ["gpt-4o", "gpt-4o", [2.5, 10]],
  ["gpt-4o-2024-05-13", "gpt-4o", [5, 15]],
  ["gpt-4-0613", "gpt-4-0613", [30, 60]],
  ["o3-mini-high", "o3-mini", [1.1, 4.4]],
  ["models/gemini-2.5-flash", "gemini-2.5-flash", [0.3, 2.5]],
  ["gemini-2.5-flash-lite", "gemini-2.5-flash-lite", [0.1, 0.4]],
  ["kimi-k2", "kimi-k2", [0.57, 2.3]],
  ["kimi-k2-thinking", "kimi-k2-thinking", [0.6, 2.5]],
  ["moonshot-ai/kimi-k2.7-code", "kimi-k2.7-code", [0.95, 4]],
  ["grok-code-fast-1", "grok-code-fast-1", [0.2, 1.5]],
  ["composer-2.5-fast", "composer-2.5-fast", [3, 15]],
  ["openrouter/qwen/qwen3-coder", "qwen/qwen3-coder", [0.22, 1.8]],
  ["openrouter/qwen/qwen3-coder:free", "qwen/qwen3-coder:free", [0, 0]],
  // Of these the list has no price, nor of one that differs in its version alone.
  ["claude-instant-1.2", "claude-instant-1.2"],
  ["gpt-5.3-codex-spark", "gpt-5.3-codex-spark", [1.75, 14]],
  ["gemini-2.5-flash-native-audio", "gemini-2.5-flash-native-audio"],
  ["coder-model", "coder-model"],
  ["<synthetic>", undefined],
  ["auto", undefined],
  ["cursor-auto", undefined],
  ["default", undefined],
  ["", undefined],
  ["x".repeat(201), undefined],
];

const million = (model: string, kind: "inputTokens" | "outputTokens") => {
  // In ten requests, so that no price of a long context applies.
  const price = computePrice({ model, source: "claude-code", at: new Date("2026-11-01"), usage: { [kind]: 100_000 } });
  return price === undefined ? undefined : Number(price.costNano * 10n) / 1e9;
};

describe("a model by the name that an agent wrote", () => {
  it.each(names)("%s", (name, model, dollars) => {
    expect(parseModelName(name)?.model).toBe(model);
    expect([million(name, "inputTokens"), million(name, "outputTokens")]).toEqual(dollars ?? [undefined, undefined]);
  });

  test("an agent's provider counts only where the name does not tell", () => {
    const at = new Date("2026-11-01");
    const usage = { inputTokens: 100 };
    expect(computePrice({ model: "codex-mini-latest", source: "aider", at, usage })).toBeUndefined();
    expect(computePrice({ model: "codex-mini-latest", source: "codex-cli", at, usage })?.by.provider).toBe("openai");
    expect(computePrice({ model: "gpt-5", source: "claude-code", at, usage })?.by.provider).toBe("openai");
    const through = { model: "gpt-5", provider: "openrouter", source: "opencode", at, usage };
    expect(computePrice(through)?.by.provider).toBe("openai"); // a router's list has `openai/gpt-5`: the model's own provider
    expect(computePrice({ ...through, model: "openai/gpt-5" })?.by.provider).toBe("openai");
  });

  test("hostile names price nothing", () => {
    for (const name of [
      "-".repeat(200),
      "claude-".repeat(28),
      "/".repeat(200),
      "models/".repeat(28),
      "{}",
      "__proto__",
    ]) {
      expect(million(name, "inputTokens")).toBeUndefined();
    }
  });
});

describe("a model that the price list does not have", () => {
  const by = (model: string) => findTariff({ model, source: "", at: new Date("2026-11-01") })?.by;

  test.each([
    ["gpt-5.9-sol", "gpt-5.6-sol"],
    ["gpt-5.9-sol-high", "gpt-5.6-sol"],
    ["claude-opus-4-10", "claude-opus-4-8"],
    ["claude-sonnet-5-4", "claude-sonnet-5"],
    ["gemini-3-pro", "gemini-2.5-pro"],
    ["composer-1", "composer-2.5"],
    ["qwen3-coder-plus", "qwen/qwen3-coder-plus"],
    ["deepseek-v3", "deepseek-v3.2"],
  ])("%s is estimated as the nearest version, %s", (model, nearest) => {
    expect(by(model)).toMatchObject({ model: nearest, estimated: true });
    expect(findEstimate(model)).toBe(nearest);
  });

  test.each([
    ["gpt-6.9-sol", { provider: "openai", model: "gpt-6.2-sol" }],
    ["claude-sonnet-5-9", { provider: "anthropic", model: "claude-sonnet-5-5" }],
    ["claude-haiku-6", { provider: "anthropic", model: "claude-haiku-5-5" }],
    ["mimo-v2.7-pro", { provider: "xiaomi", model: "mimo-v2.6-pro" }],
    ["gpt-6.9-sol-pro", { provider: "openrouter", model: "gpt-6.2-sol-pro" }],
  ])("%s is estimated as the nearest version, which the second list alone has", (model, priced) => {
    expect(by(model)).toMatchObject({ ...priced, from: "models.dev of 2026-11-28", estimated: true });
    expect(findEstimate(model)).toBe(priced.model);
  });

  test.each(["gpt-6-nova", "claude-haiku-7", "o4", "my-model-2", "gpt-99.1-sol"])("%s is of no family", (model) => {
    expect([by(model), findEstimate(model)]).toEqual([undefined, undefined]);
  });

  test.each([
    ["gpt-6.2-sol", { from: "models.dev of 2026-11-28", provider: "openai", model: "gpt-6.2-sol", tier: "standard" }],
    ["gpt-6.2-sol-fast", { provider: "vercel-ai-gateway", model: "gpt-6.2-sol-fast", estimated: true }],
  ])("%s, which the list lacks, is priced by the second one, a router's price as an estimate", (model, priced) => {
    expect(by(model)).toMatchObject(priced);
  });

  test("the second list has prices of long contexts and of the cache", () => {
    const usage = { inputTokens: 300_000, cacheReadTokens: 1000, outputTokens: 100 };
    const price = computePrice({ model: "gpt-6.2-sol", source: "codex-cli", at: new Date("2026-11-20"), usage });
    expect(price?.costNano).toBe(300_000n * 4000n + 1000n * 200n + 100n * 15_000n);
  });

  test("one that the list has is no estimate", () => {
    for (const model of ["gpt-6-sol", "claude-opus-4-8", "openrouter/qwen/qwen3-coder"]) {
      expect(by(model)?.estimated, model).toBeUndefined();
      expect(findEstimate(model)).toBeUndefined();
    }
  });
});

test("a model and its dated twins are one family, and a name of no model is its own", () => {
  for (const name of ["claude-opus-4-5", "claude-opus-4-5-20251101", "claude-opus-4.5", "anthropic/claude-opus-4-5"])
    expect(getModelFamily(name), name).toBe("claude-opus-4-5");
  expect(getModelFamily("<synthetic>")).toBe("<synthetic>");
});
