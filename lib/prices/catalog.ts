import { calcPrice, type PriceCalculation } from "@pydantic/genai-prices";
import { means } from "#lib/prices/match";
import type { ModelName } from "#lib/prices/model";

export type Listed = {
  provider: { id: string };
  model: Pick<PriceCalculation["model"], "id" | "prices">;
  model_price: PriceCalculation["model_price"];
};

/** For models whose name does not contain the provider, such as `codex-mini-latest`. */
const providersByAgent: Record<string, string> = {
  "claude-code": "anthropic",
  "codex-cli": "openai",
  "gemini-cli": "google",
  cursor: "cursor",
};

/**
 * Undefined if the list lacks exactly this model. For a router or a cloud, the original provider's price is the
 * fallback.
 * @param provider as the agent recorded it; otherwise derived from the name, then from the agent
 */
export function listed(
  name: ModelName,
  { provider, source, at }: { provider?: string; source?: string; at: Date },
): PriceCalculation | undefined {
  const own = [name.dated, name.model];
  for (const providerId of new Set([provider, name.provider])) {
    const found = providerId && findFirst([name.listed, ...own], providerId, at);
    if (found) return found;
  }
  const agents = source !== undefined && Object.hasOwn(providersByAgent, source) ? providersByAgent[source] : undefined;
  return findFirst(own, undefined, at) ?? (agents === undefined ? undefined : findFirst(own, agents, at));
}

function findFirst(names: string[], providerId: string | undefined, timestamp: Date): PriceCalculation | undefined {
  for (const name of new Set(names)) {
    const found = calcPrice({}, name, { providerId, timestamp });
    if (found && means(found.model.match, name)) return found;
  }
  return undefined;
}

/** As DeepSeek's does. */
export const changesInADay = ({ model: { prices } }: Listed): boolean =>
  Array.isArray(prices) && prices.some(({ constraint }) => constraint !== undefined && !("start_date" in constraint));
