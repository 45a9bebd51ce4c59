import { calcPrice, findProvider, type PriceCalculation } from "@pydantic/genai-prices";
import type { Listed } from "#lib/prices/catalog";
import { means } from "#lib/prices/match";
import { type ModelName, modelOf } from "#lib/prices/model";
import { secondIds, secondListed } from "#lib/prices/second";

/** A name's parts around its version: `gpt-` 6.2 `-sol`. */
type Parts = { before: string; version: [number, number]; behind: string };

/** The largest router: it has models whose maker's own list is missing. */
const router = "openrouter";

/** `isSecond` where the second list has it. */
export type Nearest = Listed & { isSecond: boolean };

/**
 * What a model that the price lists do not have probably costs: as at a router that has it, else as the nearest version of its
 * family in both lists, an earlier one first (`gpt-6.2-sol` for `gpt-6.9-sol`), and a maker's before a router's. Models that differ
 * in anything else are no family.
 */
export function nearest(name: ModelName, at: Date): Nearest | undefined {
  const found = atRouter(name, at);
  if (found) return { ...found, isSecond: false };
  const maker = findProvider({ modelId: name.model })?.id;
  return nearestAt(maker, secondIds(false), name, at) ?? nearestAt(router, secondIds(true), name, at);
}

/** The nearest of the models that a provider in the first list has, and of some of the second one's; of two as near, the first list's. */
function nearestAt(
  providerId: string | undefined,
  second: string[],
  { model }: ModelName,
  at: Date,
): Nearest | undefined {
  const first = providerId === undefined ? [] : idsOf({ providerId });
  const listed = [...first.map((id) => ({ id, isSecond: false })), ...second.map((id) => ({ id, isSecond: true }))];
  for (const { id, isSecond } of familyIn(listed, model)) {
    const price = isSecond ? secondListed({ dated: id, model: id }) : priceAt(id, providerId, at);
    if (price) return { ...price, isSecond };
  }
  return undefined;
}

/** The model as the router has it. */
export function atRouter(name: ModelName, at: Date): PriceCalculation | undefined {
  const same = idsOf({ providerId: router }).find((id) => id.split("/").at(-1) === name.model);
  return same === undefined ? undefined : priceAt(same, router, at);
}

/** The models of a name's family, the nearest first. */
function familyIn<One extends { id: string }>(listed: One[], model: string): One[] {
  const own = partsOf(model);
  if (!own) return [];
  return listed
    .flatMap((one) => {
      const other = partsOf(modelOf(one.id.split("/").at(-1) ?? "")?.model ?? "");
      const isKin = other && other.before === own.before && other.behind === own.behind;
      const distance = isKin ? distanceOf(own.version, other.version) : Number.POSITIVE_INFINITY;
      return distance === Number.POSITIVE_INFINITY ? [] : [{ one, distance }];
    })
    .sort((a, b) => a.distance - b.distance)
    .map(({ one }) => one);
}

/** Earlier versions are nearer than later ones; of more than one whole version nothing is known. */
function distanceOf([major, minor]: Parts["version"], [otherMajor, otherMinor]: Parts["version"]): number {
  if (Math.abs(major - otherMajor) > 1) return Number.POSITIVE_INFINITY;
  const step = (major - otherMajor) * 100 + minor - otherMinor;
  return step >= 0 ? step : 1000 - step;
}

/** Models that cost nothing are offers of the router's. */
const idsOf = (options: { providerId: string }): string[] =>
  (findProvider(options)?.models ?? []).map(({ id }) => id.toLowerCase()).filter((id) => !id.includes(":"));

function partsOf(model: string): Parts | undefined {
  const [, before, major, minor = "0", behind = ""] =
    /^(\D{3,}?)(\d{1,2})(?:[.-](\d{1,2}))?((?:-.*)?)$/.exec(model) ?? [];
  return before && major ? { before, version: [Number(major), Number(minor)], behind } : undefined;
}

function priceAt(id: string, providerId: string | undefined, timestamp: Date): PriceCalculation | undefined {
  const found = calcPrice({}, id, { providerId, timestamp });
  return found && means(found.model.match, id) ? found : undefined;
}
