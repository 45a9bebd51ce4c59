import { describe, expect, test } from "vitest";
import { computePrice, type PriceQuestion } from "#lib/prices/price";
import { decimal, rounded } from "#lib/prices/rates";

const claude = {
  model: "claude-opus-4-8",
  source: "claude-code",
  at: new Date("2026-11-01T12:00:00Z"),
  usage: {},
} satisfies PriceQuestion;
const nano = (question: Partial<PriceQuestion>) => computePrice({ ...claude, ...question })?.costNano;

describe("what a request cost", () => {
  test("each kind of token at its own price, computed by hand", () => {
    const price = computePrice({
      ...claude,
      usage: {
        inputTokens: 3, // 5 dollars a million: 5,000 nano-dollars each
        outputTokens: 421, // 25,000
        reasoningTokens: 100, // part of the output
        cacheReadTokens: 41_234, // 500
        cacheWriteTokens: 1077,
        cacheWrite5mTokens: 77, // 6,250
        cacheWrite1hTokens: 1000, // 10,000
      },
      webSearches: 2, // 10 dollars a thousand
    });
    expect(price?.split).toEqual({
      input: 15_000n,
      output: 10_525_000n,
      cacheRead: 20_617_000n,
      cacheWrite: 481_250n + 10_000_000n,
      other: 20_000_000n,
    });
    expect(price?.costNano).toBe(61_638_250n);
    expect(price?.by).toEqual({
      from: "genai-prices",
      provider: "anthropic",
      model: "claude-opus-4-8",
      tier: "standard",
    });
  });

  test("cache writes of which only the sum is known count as written for five minutes", () => {
    expect(nano({ usage: { cacheWriteTokens: 1000 } })).toBe(6_250_000n);
    expect(nano({ usage: { cacheWriteTokens: 1000, cacheWrite1hTokens: 400 } })).toBe(600n * 6250n + 400n * 10_000n);
  });

  test("what has no price of its own costs what it is a part of; Claude's hour of cache twice the input everywhere", () => {
    const gpt = { model: "gpt-5.2-pro", source: "codex" };
    expect(nano({ ...gpt, usage: { cacheReadTokens: 100 } })).toBe(nano({ ...gpt, usage: { inputTokens: 100 } }));
    const bedrock = { model: "global.anthropic.claude-opus-4-5-20251101-v1:0" };
    expect(nano({ ...bedrock, usage: { cacheWrite1hTokens: 1000 } })).toBe(10_000_000n);
  });

  test("as of the message's time: before and after a change of prices, and by the hour where they depend on it", () => {
    const usage = { inputTokens: 300_000, outputTokens: 1000 };
    const at = (time: string) => nano({ model: "claude-opus-4-6", usage, at: new Date(time) });
    expect(at("2026-03-12T23:59:59.999Z")).toBe(300_000n * 10_000n + 1000n * 37_500n);
    expect(at("2026-03-13T00:00:00Z")).toBe(300_000n * 5000n + 1000n * 25_000n);
    const hour = (time: string) => nano({ model: "deepseek-chat", usage: { inputTokens: 1000 }, at: new Date(time) });
    expect(hour("2025-08-01T12:00:00Z")).toBe(270_000n);
    expect(hour("2025-08-01T20:00:00Z")).toBe(135_000n);
    expect(nano({ usage, at: new Date(Number.NaN) })).toBeUndefined();
  });

  test("a long context's prices begin above the limit of the whole input, cached tokens among it, and hold for all of it", () => {
    const sonnet = (inputTokens: number) =>
      nano({
        model: "claude-sonnet-4-5",
        usage: { inputTokens, cacheReadTokens: 150_000, cacheWrite5mTokens: 40_000 },
      });
    expect(sonnet(10_000)).toBe(10_000n * 3000n + 150_000n * 300n + 40_000n * 3750n);
    const more = { model: "claude-sonnet-4-5", usage: { outputTokens: 100 } }; // what a later message of an answer added
    expect(nano({ ...more, requestInputTokens: 250_000 })).toBe(100n * 22_500n);
    expect(nano({ ...more, usage: { inputTokens: 900_000 }, requestInputTokens: 0 })).toBe(900_000n * 3000n);
    expect(sonnet(10_001)).toBe(10_001n * 6000n + 150_000n * 600n + 40_000n * 7500n);
  });

  test("batch and flex cost half, fast and priority what is published; an unknown tier is the standard price and is told", () => {
    const usage = { inputTokens: 1000, cacheReadTokens: 1000 };
    const gpt = { model: "gpt-5.1", source: "codex", usage };
    const by = (question: Partial<PriceQuestion>) => {
      const price = computePrice({ ...claude, usage, ...question });
      return [price?.costNano, price?.by.tier, price?.by.unknownTier];
    };
    expect(by({})).toEqual([5_500_000n, "standard", undefined]);
    expect(by({ serviceTier: "standard" })).toEqual([5_500_000n, "standard", undefined]);
    expect(by({ serviceTier: "batch" })).toEqual([2_750_000n, "batch", undefined]);
    expect(by({ speed: "fast" })).toEqual([11_000_000n, "fast", undefined]);
    expect(by({ serviceTier: "fast" })).toEqual(by({ speed: "fast" }));
    expect(by({ speed: "fast", model: "claude-opus-4-6" })).toEqual([33_000_000n, "fast", undefined]);
    expect(by({ speed: "fast", model: "claude-haiku-4-5" })).toEqual([1_100_000n, "standard", "fast"]);
    expect(by({ serviceTier: "priority" })).toEqual([5_500_000n, "standard", "priority"]);
    expect(by(gpt)).toEqual([1_375_000n, "standard", undefined]);
    expect(by({ ...gpt, serviceTier: "flex" })).toEqual([687_500n, "flex", undefined]);
    expect(by({ ...gpt, serviceTier: "priority" })).toEqual([2_750_000n, "priority", undefined]);
    const cost = (model: string) => Number(by({ ...gpt, model })[0]);
    const times = (model: string) => Number(by({ ...gpt, model, serviceTier: "priority" })[0]) / cost(model);
    expect(["gpt-5.6-terra", "gpt-6-astra", "gpt-5.5"].map(times)).toEqual([2, 2, 2.5]);
    expect(times("gpt-5.3-codex")).toBe(1);
    expect(by({ ...gpt, model: "gpt-5.3-codex", serviceTier: "priority" }).slice(1)).toEqual(["standard", "priority"]);
    expect(by({ ...gpt, serviceTier: "scale" })).toEqual([1_375_000n, "standard", "scale"]);
    // Searches are no tokens, and cost the same in every tier.
    expect(nano({ usage: {}, webSearches: 1, serviceTier: "batch" })).toBe(10_000_000n);
  });

  test("counts that are none are not counted, and no amount overflows", () => {
    const bad = { inputTokens: -5, outputTokens: 1.5, cacheReadTokens: Number.NaN, reasoningTokens: 1e300 };
    expect(nano({ usage: bad })).toBe(0n);
    expect(nano({ usage: { inputTokens: 2 ** 31 - 1 } })).toBe(2_147_483_647n * 5000n);
  });
});

describe("exact money", () => {
  test("decimals are taken as they are written, and halves round up", () => {
    expect(decimal(0.003625)).toBe(3_625_000_000n);
    expect(decimal(1e-7)).toBe(100_000n);
    expect(decimal(21)).toBe(21n * 10n ** 12n);
    expect([rounded(decimal(0.5)), rounded(decimal(0.499999)), rounded(decimal(12.5))]).toEqual([1n, 0n, 13n]);
    expect(() => decimal(-1)).toThrow(RangeError);
  });

  test("over a million messages the sum is exact, and no rounding adds up to a cent", () => {
    const model = "deepseek-v3.2"; // 0.2288 and 0.3432 dollars a million are 228.8 and 343.2 nano-dollars: in tenths
    let [whole, fine, split] = [0n, 0n, 0n];
    for (let i = 0; i < 10_000; i++) {
      const tokens = { inputTokens: (i * 7) % 50_021, outputTokens: i % 463 };
      const price = computePrice({ ...claude, model, usage: tokens });
      whole += (price?.costNano ?? 0n) * 100n; // each of them a hundred times
      split += price ? (price.split.input + price.split.output) * 100n : 0n;
      fine += (BigInt(tokens.inputTokens) * 2288n + BigInt(tokens.outputTokens) * 3432n) * 100n;
    }
    expect(split).toBe(whole);
    const drift = whole * 10n - fine;
    expect(drift < 0n ? -drift : drift).toBeLessThan(1_000_000n); // 0.0001 dollars in all
    expect(whole).toBeGreaterThan(4_800_000_000_000n); // of more than 4,800
  });
});
