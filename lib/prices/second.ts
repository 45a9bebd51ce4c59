// models.dev's list, for models missing in the first (docs/decisions/0065-a-second-price-list.md).
import type { Listed } from "#lib/prices/catalog";
import type { ModelName } from "#lib/prices/model";
import second from "./second.json" with { type: "json" };

type PriceEntry = { provider: string; prices: Listed["model_price"] };

const models = new Map<string, PriceEntry>(Object.entries(second.models));
/** Their prices only estimate the makers'. */
const routers = new Set(["together", "vercel-ai-gateway", "openrouter"]);

export const secondList = `models.dev of ${second.day}`;

export const secondIds = (ofRouters: boolean): string[] =>
  [...models].flatMap(([id, { provider }]) => (routers.has(provider) === ofRouters ? [id] : []));

/** `isEstimate`: only a router's price is known. */
export function secondListed({
  dated,
  model,
}: Pick<ModelName, "dated" | "model">): (Listed & { isEstimate: boolean }) | undefined {
  for (const id of [dated, model]) {
    const entry = models.get(id);
    if (!entry) continue;
    const { provider, prices } = entry;
    return {
      ...{ provider: { id: provider }, model: { id, prices }, model_price: prices },
      isEstimate: routers.has(provider),
    };
  }
  return undefined;
}
