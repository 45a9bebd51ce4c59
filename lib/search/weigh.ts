import type { Speaker } from "#lib/search/index/speaker";
import type { TextRanges, UnitMatches } from "#lib/search/index/unit";

const speakerFactors: Record<Speaker, number> = { person: 1.6, assistant: 1.3, thinking: 1, tool: 0.9, notice: 0.6 };

/** Characters. */
const near = 200;

export function computeRarity(messages: UnitMatches[], weights?: number[]): number[] {
  return (messages[0]?.each ?? []).map((_, unit) => {
    const having = messages.filter(({ each }) => (each[unit]?.length ?? 0) > 0).length;
    return Math.log(1 + messages.length / Math.max(1, having)) * (weights?.[unit] ?? 1);
  });
}

/** 1 if the message has all units. */
export function computeShare({ each }: UnitMatches, weights?: number[]): number {
  const getWeight = (unit: number) => weights?.[unit] ?? 1;
  const total = sum(each.map((_, unit) => getWeight(unit)));
  return total === 0 ? 0 : sum(each.map((ranges, unit) => (ranges.length > 0 ? getWeight(unit) : 0))) / total;
}

export function scoreText({
  speaker,
  found,
  length,
}: {
  speaker: Speaker;
  found: UnitMatches;
  length: number;
}): number {
  const units = found.each.length;
  const nearness = units > 1 ? (bestWindow(found, near)?.[1] ?? 0) / units : 1;
  // The shorter of two long messages with the same words is more about them.
  const focus = 1 / (1 + Math.log10(1 + Math.max(0, length - 1500) / 2000));
  const order = isInOrder(found) ? 1.15 : 1;
  return speakerFactors[speaker] * (0.5 + nearness) * order * (0.6 + 0.4 * focus);
}

export const sumRarity = ({ each }: UnitMatches, rarity: number[]): number =>
  sum(each.map((ranges, unit) => (ranges.length > 0 ? saturated(ranges.length) * (rarity[unit] ?? 0) : 0)));

const isInOrder = ({ each }: UnitMatches) =>
  each.some((ranges, unit) => {
    const starts = new Set(each[unit + 1]?.map(([start]) => start));
    return ranges.some(([, end]) => starts.has(end + 1));
  });

const saturated = (times: number) => 1 + 0.2 * Math.log2(times);
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

const maxNear = 40;

export function bestWindow({ each }: UnitMatches, size: number): [start: number, units: number] | undefined {
  const places = sortPlaces(each);
  let best: [number, number] | undefined;
  for (let at = 0; at < places.length; at += 1) {
    const { start } = places[at] as UnitPlace;
    let seen = 0; // a bit for each of a query's at most 32 units
    let count = 0;
    const end = Math.min(places.length, at + maxNear);
    for (let next = at; next < end; next += 1) {
      const place = places[next] as UnitPlace;
      if (place.end > start + size) break;
      const bit = 1 << place.unit;
      if ((seen & bit) === 0) count += 1;
      seen |= bit;
    }
    if (count > (best?.[1] ?? 0)) best = [start, count];
    if (best?.[1] === each.length) break;
  }
  return best;
}

type UnitPlace = { start: number; end: number; unit: number };

const sortPlaces = (each: TextRanges[]): UnitPlace[] =>
  each
    .flatMap((ranges, unit) => ranges.map(([start, end]) => ({ start, end, unit })))
    .sort((a, b) => a.start - b.start);
