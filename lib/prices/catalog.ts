import { calcPrice, type PriceCalculation } from "@pydantic/genai-prices";
import { means } from "#lib/prices/match";
import type { ModelName } from "#lib/prices/model";

/** A model in a price list, with its prices as of a moment. */
export type Listed = {
  provider: { id: string };
  model: Pick<PriceCalculation["model"], "id" | "prices">;
  model_price: PriceCalculation["model_price"];
};

/** The provider of an agent's models, where their name alone does not tell: `codex-mini-latest`. */
const providerOfAgent: Record<string, string> = {
  "claude-code": "anthropic",
  "codex-cli": "openai",
  "gemini-cli": "google",
  cursor: "cursor",
};

/**
 * A model in the price list as of a moment, with the prices of its provider; undefined where the list has not this very model.
 * Of a router's or a cloud's model that it doesn't have, the price of the model's own provider.
 * @param provider as an agent recorded it; else the name tells, and last the agent
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
  const agents = source !== undefined && Object.hasOwn(providerOfAgent, source) ? providerOfAgent[source] : undefined;
  return findFirst(own, undefined, at) ?? (agents === undefined ? undefined : findFirst(own, agents, at));
}

function findFirst(names: string[], providerId: string | undefined, timestamp: Date): PriceCalculation | undefined {
  for (const name of new Set(names)) {
    const found = calcPrice({}, name, { providerId, timestamp });
    if (found && means(found.model.match, name)) return found;
  }
  return undefined;
}

/** Whether a model's price depends on the hour, as DeepSeek's does. */
export const changesInADay = ({ model: { prices } }: Listed): boolean =>
  Array.isArray(prices) && prices.some(({ constraint }) => constraint !== undefined && !("start_date" in constraint));
