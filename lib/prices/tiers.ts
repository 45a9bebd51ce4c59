// What the price list does not have: rules that providers publish for whole tiers of service (docs/decisions/0042-prices.md).

/** How a price differs from the standard one: as so many hundredths; undefined where no rule is known. */
export type Tier = { name: string; percent: number };

/** `percent` of the standard price; Anthropic names the models of its fast mode, and how much more they cost. */
const fast: [RegExp, number][] = [
  [/^claude-opus-4-[67]$/, 600],
  [/^claude-opus-(?:4-8|5)$/, 200],
];

/** OpenAI's table of priority processing. */
const priority: [RegExp, number][] = [
  [/^gpt-5(?:\.[124])?(?:-codex|-codex-max)?$/, 200],
  [/^gpt-5\.4-mini$/, 200],
  [/^gpt-5-mini$/, 180],
  [/^gpt-5\.5$/, 250],
  [/^gpt-5\.6(?:-(?:sol|terra|luna))?$/, 200],
  [/^gpt-6-(?:astra|sol|luna)$/, 200],
  [/^gpt-4\.1$/, 175],
];

const usual = new Set(["standard", "default", "auto", "on_demand", "on-demand", ""]);

/** The one name of how a request was served: its tier, or its speed where the tier is the usual one. */
export function servedAs({ serviceTier, speed }: { serviceTier?: string; speed?: string }): string | null {
  const isUsual = (name = "") => usual.has(name.toLowerCase());
  return (isUsual(serviceTier) && !isUsual(speed) ? speed : serviceTier) ?? null;
}

const found = (table: [RegExp, number][], model: string) => table.find(([name]) => name.test(model))?.[1];

/**
 * The tier of a request. Where its price is not known, the standard one holds, and `unknown` is the tier's name.
 * @param provider whose price it is @param model its name without a date
 */
export function resolveTier(
  provider: string,
  model: string,
  served: { serviceTier?: string | null; speed?: string | null },
): Tier & { unknown?: string } {
  const speed = served.speed?.toLowerCase() ?? "";
  const tier = served.serviceTier?.toLowerCase() ?? "";
  const standard = { name: "standard", percent: 100 };
  if ((speed === "fast" || tier === "fast") && provider === "anthropic") {
    const percent = found(fast, model);
    return percent === undefined ? { ...standard, unknown: "fast" } : { name: "fast", percent };
  }
  // Both publish half of every price, of cached tokens, too.
  if (tier === "batch" && ["anthropic", "openai"].includes(provider)) return { name: "batch", percent: 50 };
  if (tier === "flex" && provider === "openai") return { name: "flex", percent: 50 };
  if (["priority", "fast"].includes(tier) && provider === "openai") {
    const percent = found(priority, model);
    return percent === undefined ? { ...standard, unknown: "priority" } : { name: "priority", percent };
  }
  return usual.has(tier) && (speed === "" || speed === "standard")
    ? standard
    : { ...standard, unknown: usual.has(tier) ? speed : tier };
}
