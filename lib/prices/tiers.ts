// Providers' rules for service tiers, which the price list lacks (docs/decisions/0042-prices.md).

/** `percent` of the standard price; undefined without a known rule. */
type Tier = { name: string; percent: number };

/** Anthropic's fast mode, by model. */
const fast: [RegExp, number][] = [
  [/^claude-opus-4-[67]$/, 600],
  [/^claude-opus-(?:4-8|5)$/, 200],
];

/** OpenAI's priority processing. */
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

/** The tier, or the speed if the tier is standard. */
export function servedAs({ serviceTier, speed }: { serviceTier?: string; speed?: string }): string | null {
  const isUsual = (name = "") => usual.has(name.toLowerCase());
  return (isUsual(serviceTier) && !isUsual(speed) ? speed : serviceTier) ?? null;
}

const found = (table: [RegExp, number][], model: string) => table.find(([name]) => name.test(model))?.[1];

/**
 * Falls back to the standard price and names the tier in `unknown`.
 * @param model without a date
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
  // Both halve every price, cached tokens included.
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
