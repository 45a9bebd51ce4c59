import { calcPrice, findProvider, type PriceCalculation } from "@pydantic/genai-prices";
import type { Listed } from "#lib/prices/catalog";
import { priceListInUse } from "#lib/prices/list";
import { means } from "#lib/prices/match";
import { type ModelName, parseModelName } from "#lib/prices/model";
import { secondIds, secondListed } from "#lib/prices/second";

/** A name's parts around its version: `gpt-` 6.2 `-sol`. */
type VersionParts = { before: string; version: [number, number]; behind: string };

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
  return nearestAt(maker, false, name, at) ?? nearestAt(router, true, name, at);
}

/** The nearest of the models that a provider in the first list has, and of some of the second one's; of two as near, the first list's. */
function nearestAt(
  providerId: string | undefined,
  ofRouters: boolean,
  { model }: ModelName,
  at: Date,
): Nearest | undefined {
  for (const { id, isSecond } of familyAt(providerId, ofRouters, model)) {
    const price = isSecond ? secondListed({ dated: id, model: id }) : priceAt(id, providerId, at);
    if (price) return { ...price, isSecond };
  }
  return undefined;
}

/** The model as the router has it. */
export function atRouter(name: ModelName, at: Date): PriceCalculation | undefined {
  const same = ofList("router's names", namesAtRouter).get(name.model);
  return same === undefined ? undefined : priceAt(same, router, at);
}

/** The router's models by their names without their makers'; of two the first. */
const namesAtRouter = (): Map<string, string> =>
  new Map(
    listProviderIds({ providerId: router })
      .map((id) => [id.split("/").at(-1) ?? "", id] as const)
      .reverse(),
  );

/** Look-ups made from the price list in use, kept because anybody may send any number of names that it lacks. */
let made = { generation: -1, of: new Map<string, unknown>() };

function ofList<T>(name: string, make: () => T): T {
  const { generation } = priceListInUse();
  if (made.generation !== generation) made = { generation, of: new Map() };
  const known = made.of.get(name) as T | undefined;
  if (known !== undefined) return known;
  const value = make();
  made.of.set(name, value);
  return value;
}

type Kin = { id: string; isSecond: boolean; version: VersionParts["version"] };

/** The models of a name's family, the nearest first. */
function familyAt(providerId: string | undefined, ofRouters: boolean, model: string): Kin[] {
  const own = splitVersion(model);
  if (!own) return [];
  const families = ofList(`families ${providerId} ${ofRouters}`, () => familiesIn(providerId, secondIds(ofRouters)));
  return (families.get(familyKey(own)) ?? [])
    .map((one) => ({ one, distance: getDistance(own.version, one.version) }))
    .filter(({ distance }) => distance !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance)
    .map(({ one }) => one);
}

const familyKey = ({ before, behind }: VersionParts): string => `${before}\n${behind}`;

function familiesIn(providerId: string | undefined, second: string[]): Map<string, Kin[]> {
  const families = new Map<string, Kin[]>();
  const add = (id: string, isSecond: boolean) => {
    const parts = splitVersion(parseModelName(id.split("/").at(-1) ?? "")?.model ?? "");
    if (!parts) return;
    const key = familyKey(parts);
    families.set(key, [...(families.get(key) ?? []), { id, isSecond, version: parts.version }]);
  };
  for (const id of providerId === undefined ? [] : listProviderIds({ providerId })) add(id, false);
  for (const id of second) add(id, true);
  return families;
}

/** Earlier versions are nearer than later ones; of more than one whole version nothing is known. */
function getDistance(
  [major, minor]: VersionParts["version"],
  [otherMajor, otherMinor]: VersionParts["version"],
): number {
  if (Math.abs(major - otherMajor) > 1) return Number.POSITIVE_INFINITY;
  const step = (major - otherMajor) * 100 + minor - otherMinor;
  return step >= 0 ? step : 1000 - step;
}

/** Models that cost nothing are offers of the router's. */
const listProviderIds = (options: { providerId: string }): string[] =>
  (findProvider(options)?.models ?? []).map(({ id }) => id.toLowerCase()).filter((id) => !id.includes(":"));

function splitVersion(model: string): VersionParts | undefined {
  const [, before, major, minor = "0", behind = ""] =
    /^(\D{3,}?)(\d{1,2})(?:[.-](\d{1,2}))?((?:-.*)?)$/.exec(model) ?? [];
  return before && major ? { before, version: [Number(major), Number(minor)], behind } : undefined;
}

function priceAt(id: string, providerId: string | undefined, timestamp: Date): PriceCalculation | undefined {
  const found = calcPrice({}, id, { providerId, timestamp });
  return found && means(found.model.match, id) ? found : undefined;
}
