// A second price list, asked for models that the first one lacks: models.dev's, as of a day (docs/decisions/0065-a-second-price-list.md).
import type { Listed } from "#lib/prices/catalog";
import type { ModelName } from "#lib/prices/model";
import second from "./second.json" with { type: "json" };

type PriceEntry = { provider: string; prices: Listed["model_price"] };

const models = new Map<string, PriceEntry>(Object.entries(second.models));
/** These serve others' models: what they take is an estimate of what the maker does. */
const routers = new Set(["together", "vercel-ai-gateway", "openrouter"]);

/** What the second list is called. */
export const secondList = `models.dev of ${second.day}`;

/** The second list's models, of makers or of routers. */
export const secondIds = (ofRouters: boolean): string[] =>
  [...models].flatMap(([id, { provider }]) => (routers.has(provider) === ofRouters ? [id] : []));

/** A model in the second list, by its dated name or its own; `isEstimate` where only a router's price of it is known. */
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
