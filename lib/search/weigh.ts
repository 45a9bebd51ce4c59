// How well messages match a query: by the rarity of what they have of it among the messages of their trace, by who speaks, and
// by how near together it stands.
import type { Speaker } from "#lib/search/speaker";
import type { Ranges } from "#lib/search/unit";

/** What was found in a message: how many units, and the ranges of each. */
export type Found = { ranges: Ranges; found: number; each: Ranges[] };

/** What the words of each speaker are worth. */
const worth: Record<Speaker, number> = { person: 1.6, assistant: 1.3, thinking: 1, tool: 0.9, notice: 0.6 };

/** Words in this many characters count as near. */
const near = 200;

/** The rarity of each unit among a trace's messages, times its weight among all traces where that is known. */
export function rarityOf(messages: Found[], weights?: number[]): number[] {
  return (messages[0]?.each ?? []).map((_, unit) => {
    const having = messages.filter(({ each }) => (each[unit]?.length ?? 0) > 0).length;
    return Math.log(1 + messages.length / Math.max(1, having)) * (weights?.[unit] ?? 1);
  });
}

/** How much of a query a message has, by the weight of its units: 1 for all of it. */
export function shareOf({ each }: Found, weights?: number[]): number {
  const weightOf = (unit: number) => weights?.[unit] ?? 1;
  const total = sum(each.map((_, unit) => weightOf(unit)));
  return total === 0 ? 0 : sum(each.map((ranges, unit) => (ranges.length > 0 ? weightOf(unit) : 0))) / total;
}

/** The score of a message. */
export function weigh(
  { speaker, found, length }: { speaker: Speaker; found: Found; length: number },
  rarity: number[],
): number {
  const units = found.each.length;
  const base = sum(
    found.each.map((ranges, unit) => (ranges.length > 0 ? saturated(ranges.length) * (rarity[unit] ?? 0) : 0)),
  );
  const nearness = units > 1 ? (bestWindow(found, near)?.[1] ?? 0) / units : 1;
  // Of two long messages with the same words the shorter one is about them.
  const focus = 1 / (1 + Math.log10(1 + Math.max(0, length - 1500) / 2000));
  const order = isInOrder(found) ? 1.15 : 1;
  return base * worth[speaker] * (0.5 + nearness) * order * (0.6 + 0.4 * focus);
}

/** Whether two neighbouring words of the query stand beside each other in the same order. */
const isInOrder = ({ each }: Found) =>
  each.some((ranges, unit) => {
    const starts = new Set(each[unit + 1]?.map(([start]) => start));
    return ranges.some(([, end]) => starts.has(end + 1));
  });

const saturated = (times: number) => 1 + 0.2 * Math.log2(times);
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

/** Where the most units stand within so many characters, and how many. */
export function bestWindow({ each }: Found, size: number): [start: number, units: number] | undefined {
  const places = each
    .flatMap((ranges, unit) => ranges.map(([start, end]) => ({ start, end, unit })))
    .toSorted((a, b) => a.start - b.start);
  let best: [number, number] | undefined;
  for (const [at, { start }] of places.entries()) {
    const seen = new Set<number>();
    for (let next = at; next < places.length && next < at + 40; next += 1) {
      const place = places[next] as (typeof places)[number];
      if (place.end > start + size) break;
      seen.add(place.unit);
    }
    if (seen.size > (best?.[1] ?? 0)) best = [start, seen.size];
    if (best?.[1] === each.length) break;
  }
  return best;
}
