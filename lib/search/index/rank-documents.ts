// Scores documents by the index alone.
import "server-only";
import type { PoolClient } from "pg";
import {
  type BlockMatch,
  type Hits,
  hitsIn,
  type Matched,
  readTerms,
  type TermSlots,
} from "#lib/search/index/find-documents";
import {
  countSlots,
  forEachSlot,
  hasBit,
  maxDocuments,
  maxSlots,
  setBit,
  slotsDown,
  slotsWith,
} from "#lib/search/index/posting";
import { readParts } from "#lib/search/index/sql/block-rows";
import { forEachTerm, inField } from "#lib/search/index/terms";
import type { QueryUnit } from "#lib/search/index/unit";
import { isFact, type SearchQuery } from "#lib/search/query";

export type Ranked = { blockId: string; slot: number; score: number };

const factors = { title: 2.2, person: 1.8, any: 1, other: 0.6, adjacentPerson: 1, adjacent: 0.6, filler: 0.3 };
const minShareOfBest = 0.55;

export function computeWeights({ blocks, heads, units, groups }: Matched): number[] {
  const documents = heads.reduce((sum, head) => sum + head.documents, 0);
  const optional = new Set(groups.flatMap((group) => (group.optional ? group.units : [])));
  return units.map((unit, at) => {
    if (isFact(unit)) return 0;
    const having = blocks.reduce((sum, { ofUnits }) => sum + countSlots(ofUnits[at]), 0);
    const rarity = Math.log(1 + (documents - having + 0.5) / (having + 0.5));
    return optional.has(unit) ? rarity * factors.filler : rarity;
  });
}

export function relax(query: SearchQuery, { blocks }: Matched, weights: number[]): boolean {
  const excluded = query.groups.flatMap(({ units, excluded }) => units.map(() => excluded));
  const wanted = query.groups.filter((group) => !group.excluded && !group.optional);
  if (wanted.length < 2 || wanted.some(({ units }) => units.some(isFact))) return false;
  const known = weights.filter((_, at) => !excluded[at] && blocks.some(({ ofUnits }) => ofUnits[at]));
  // A missing word counts as the rarest, but must not outweigh all others.
  const rarest = Math.max(0, ...known);
  const total = weights.reduce((sum, weight, at) => sum + (excluded[at] ? 0 : Math.min(weight, rarest)), 0);
  if (total === 0) return false;
  let isAny = false;
  for (const { ofUnits, slots } of blocks) {
    for (let slot = 0; slot < maxDocuments; slot += 1) {
      const having = ofUnits.map((bits) => bits !== undefined && hasBit(bits, slot));
      if (having.some((has, at) => has && excluded[at])) continue;
      const own = having.reduce((sum, has, at) => sum + (has ? (weights[at] as number) : 0), 0);
      if (own < minShareOfBest * total) continue;
      slots[slot >> 3] = (slots[slot >> 3] as number) | (1 << (slot & 7));
      isAny = true;
    }
  }
  return isAny;
}

/** Beyond this, only the newest hits, and older ones with a word in the title, are ranked. */
const maxRanked = 6000;

/** Ties go to the document indexed last. About `whole` of the newest hits are ranked by everything they contain. */
export async function rank(
  tx: PoolClient,
  userId: string,
  query: SearchQuery,
  { heads, units, blocks }: Matched,
  { weights, limit, whole = maxRanked }: { weights: number[]; limit: number; whole?: number },
): Promise<Ranked[]> {
  const headsById = new Map(heads.map((head) => [head.id, head]));
  const getAge = ({ id }: BlockMatch) => Number(headsById.get(id)?.age);
  const found = blocks
    .filter(({ id, slots }) => headsById.has(id) && slots.some((byte) => byte !== 0))
    .sort((a, b) => getAge(b) - getAge(a));
  const wholes = countNewest(found, whole);
  const foundHeads = found.flatMap(({ id }) => headsById.get(id) ?? []);
  const scored = scoredTerms(query, units, weights);
  const ofTitles = scored.filter(({ isTitle }) => isTitle);
  const scoredAt = (place: number) => (place < wholes ? scored : ofTitles);
  const read = await readTerms(tx, userId, foundHeads, (place) => scoredAt(place).flatMap(({ terms }) => terms.flat()));
  // Growing arrays would be copied repeatedly.
  const room = found.reduce((sum, { slots }) => sum + countSlots(slots), 0);
  const [hits, scores] = [new Uint32Array(room), new Float64Array(room)];
  let count = 0;
  const ofBlock = new Float64Array(maxDocuments);
  for (const [place, { slots, ofUnits }] of found.entries()) {
    const terms = read[place] as TermSlots;
    const ranked = slotsDown(place < wholes ? slots : both(slots, findAnySlots(ofTitles, terms)));
    if (ranked.length === 0) continue;
    scoreInto(ofBlock, ofUnits, weights, scoredAt(place), terms);
    for (const slot of ranked) {
      hits[count] = place * maxDocuments + slot;
      scores[count] = ofBlock[slot] as number;
      count += 1;
    }
  }
  return best(scores.subarray(0, count), limit).map((at) => {
    const hit = hits[at] as number;
    const { id } = found[Math.floor(hit / maxDocuments)] as BlockMatch;
    return { blockId: id, slot: hit % maxDocuments, score: scores[at] as number };
  });
}

function countNewest(found: BlockMatch[], enough: number): number {
  let hits = 0;
  const beyond = found.findIndex(({ slots }) => {
    if (hits >= enough) return true;
    hits += countSlots(slots);
    return false;
  });
  return beyond === -1 ? found.length : beyond;
}

function findAnySlots(scored: Scored[], read: TermSlots): Buffer {
  const slots = Buffer.alloc(maxSlots);
  for (const { terms } of scored) visitSlots(terms, read, (slot) => setBit(slots, slot, true));
  return slots;
}

const both = (bits: Buffer, others: Buffer): Buffer => bits.map((byte, at) => byte & (others[at] as number)) as Buffer;

/** Ties go to the lower index. Avoids sorting tens of thousands of scores. */
export function best(scores: Float64Array, limit: number): number[] {
  const least = scores.length > limit ? findScoreThreshold(scores, limit) : 0;
  const places: number[] = [];
  for (let at = 0; at < scores.length; at += 1) if ((scores[at] as number) >= least) places.push(at);
  return places.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, limit);
}

function findScoreThreshold(scores: Float64Array, limit: number): number {
  let max = 0;
  for (let at = 0; at < scores.length; at += 1) max = Math.max(max, scores[at] as number);
  const steps = new Uint32Array(4096);
  const perStep = max / (steps.length - 1) || 1;
  for (let at = 0; at < scores.length; at += 1) {
    const step = Math.floor(Math.max(0, scores[at] as number) / perStep);
    steps[step] = (steps[step] as number) + 1;
  }
  let step = steps.length;
  for (let sum = 0; step > 0 && sum < limit; sum += steps[step] as number) step -= 1;
  return (step - 0.5) * perStep; // a score divided by the step's width may have been rounded up to this step
}

type Scored = { terms: number[][]; adds: number; isTitle?: boolean };

function scoredTerms({ scope }: SearchQuery, units: QueryUnit[], weights: number[]): Scored[] {
  const scored: Scored[] = [];
  const isScoped = scope === "title" || scope === "person";
  for (const [at, { alternatives }] of units.entries()) {
    const weight = weights[at] as number;
    if (weight === 0) continue;
    scored.push({ terms: alternatives.slice(0, 1), adds: weight * (factors.any - factors.other) });
    if (isScoped) continue;
    for (const field of ["title", "person"] as const) {
      const terms = alternatives.map((form) => form.map((term) => inField(term, field)));
      scored.push({ terms, adds: weight * (factors[field] - factors.any), isTitle: field === "title" });
    }
  }
  for (const { pair, weight } of isScoped ? [] : listPairs(units, weights)) {
    scored.push({ terms: [[pair]], adds: weight * factors.adjacent });
    scored.push({ terms: [[inField(pair, "person")]], adds: weight * factors.adjacentPerson });
    scored.push({ terms: [[inField(pair, "title")]], adds: weight * factors.adjacentPerson, isTitle: true });
  }
  return scored;
}

function listPairs(units: QueryUnit[], weights: number[]): { pair: number; weight: number }[] {
  return units.slice(1).flatMap((unit, at) => {
    const previous = units[at] as QueryUnit;
    if (previous.words !== 1 || unit.words !== 1) return [];
    const terms: number[] = [];
    forEachTerm(`${previous.written} ${unit.written}`, (term) => terms.push(term), { parts: false });
    const weight = ((weights[at] as number) + (weights[at + 1] as number)) / 2;
    return terms.length === 3 ? [{ pair: terms[2] as number, weight }] : [];
  });
}

function scoreInto(
  scores: Float64Array,
  ofUnits: BlockMatch["ofUnits"],
  weights: number[],
  scored: Scored[],
  read: TermSlots,
): void {
  scores.fill(0);
  const adder = (value: number) => (slot: number) => {
    scores[slot] = (scores[slot] as number) + value;
  };
  for (const [at, bits] of ofUnits.entries())
    if (bits) forEachSlot(bits, adder((weights[at] as number) * factors.other));
  for (const { terms, adds } of scored) visitSlots(terms, read, adder(adds));
}

function visitSlots(alternatives: number[][], read: TermSlots, visit: (slot: number) => void): void {
  const having = alternatives.flatMap((form) => {
    const lists = form.map((term) => read.get(term));
    return lists.every((slots) => slots !== undefined && slots.length > 0) ? [lists as Uint16Array[]] : [];
  });
  const seen = having.length > 1 ? slotsWith([]) : undefined;
  for (const [first, ...others] of having) {
    const rest = others.map(slotsWith);
    for (const slot of first ?? []) {
      if (!rest.every((bits) => hasBit(bits, slot)) || (seen && hasBit(seen, slot))) continue;
      visit(slot);
      if (seen) setBit(seen, slot, true);
    }
  }
}

export async function bestParts(
  tx: PoolClient,
  userId: string,
  matched: Matched,
  max: number,
  weights = computeWeights(matched),
): Promise<Hits> {
  const blocks = matched.blocks.map((block) => ({ ...block, slots: Buffer.from(block.slots) }));
  const byId = new Map(blocks.map((block) => [block.id, block]));
  const parts = (await readParts(tx, userId)).flatMap(({ traceId, blockId, slot }) => {
    const block = byId.get(blockId);
    if (!block || !hasBit(block.slots, slot)) return [];
    const having = block.ofUnits.map((bits, at) => (bits && hasBit(bits, slot) ? (weights[at] as number) : 0));
    return { traceId, slots: block.slots, slot, has: having.reduce((sum, weight) => sum + weight, 0) };
  });
  for (const own of Map.groupBy(parts, ({ traceId }) => traceId).values())
    for (const { slots, slot } of own.sort((a, b) => b.has - a.has).slice(max)) setBit(slots, slot, false);
  return hitsIn({ blocks, heads: matched.heads });
}
