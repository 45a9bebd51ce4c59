import { calcPrice, findProvider, type PriceCalculation } from "@pydantic/genai-prices";
import type { Listed } from "#lib/prices/catalog";
import { priceListInUse } from "#lib/prices/list";
import { means } from "#lib/prices/match";
import { type ModelName, parseModelName } from "#lib/prices/model";
import { secondIds, secondListed } from "#lib/prices/second";

/** `gpt-` 6.2 `-sol`. */
type VersionParts = { prefix: string; version: [number, number]; suffix: string };

/** The largest router lists models that are missing elsewhere. */
const router = "openrouter";

type Nearest = Listed & { isSecond: boolean };

/**
 * A router's price precedes the nearest version in both lists. Earlier versions and makers take precedence over later ones
 * and routers.
 */
export function nearest(name: ModelName, at: Date): Nearest | undefined {
  const found = atRouter(name, at);
  if (found) return { ...found, isSecond: false };
  const maker = findProvider({ modelId: name.model })?.id;
  return nearestAt(maker, false, name, at) ?? nearestAt(router, true, name, at);
}

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

export function atRouter(name: ModelName, at: Date): PriceCalculation | undefined {
  const same = ofList("router's names", namesAtRouter).get(name.model);
  return same === undefined ? undefined : priceAt(same, router, at);
}

const namesAtRouter = (): Map<string, string> =>
  new Map(
    listProviderIds({ providerId: router })
      .map((id) => [id.split("/").at(-1) ?? "", id] as const)
      .reverse(),
  );

/** Cached, because anybody may send any number of unlisted names. */
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

/** Nearest first. */
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

const familyKey = ({ prefix, suffix }: VersionParts): string => `${prefix}\n${suffix}`;

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

/** Earlier versions are nearer; beyond one major version nothing is known. */
function getDistance(
  [major, minor]: VersionParts["version"],
  [otherMajor, otherMinor]: VersionParts["version"],
): number {
  if (Math.abs(major - otherMajor) > 1) return Number.POSITIVE_INFINITY;
  const step = (major - otherMajor) * 100 + minor - otherMinor;
  return step >= 0 ? step : 1000 - step;
}

/** Free models are a router's offers. */
const listProviderIds = (options: { providerId: string }): string[] =>
  (findProvider(options)?.models ?? []).map(({ id }) => id.toLowerCase()).filter((id) => !id.includes(":"));

function splitVersion(model: string): VersionParts | undefined {
  const [, prefix, major, minor = "0", suffix = ""] =
    /^(\D{3,}?)(\d{1,2})(?:[.-](\d{1,2}))?((?:-.*)?)$/.exec(model) ?? [];
  return prefix && major ? { prefix, version: [Number(major), Number(minor)], suffix } : undefined;
}

function priceAt(id: string, providerId: string | undefined, timestamp: Date): PriceCalculation | undefined {
  const found = calcPrice({}, id, { providerId, timestamp });
  return found && means(found.model.match, id) ? found : undefined;
}
