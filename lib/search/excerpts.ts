import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { isOverload } from "#lib/core/errors";
import { heavyRead } from "#lib/db/heavy";
import { type Matched, matchBlocks } from "#lib/search/index/find-documents";
import { bestParts } from "#lib/search/index/rank-documents";
import { describe, type Speaker } from "#lib/search/index/speaker";
import { haveParts, type MessageText, readTexts } from "#lib/search/index/sql/block-rows";
import { composed } from "#lib/search/index/terms";
import { findIn, joinPatterns, type QueryUnit, type TextRanges, type UnitMatches } from "#lib/search/index/unit";
import { isSaidBy } from "#lib/search/phrases";
import { plainText } from "#lib/search/plain";
import type { SearchQuery } from "#lib/search/query";
import { bestWindow, computeRarity, computeShare, scoreText, sumRarity } from "#lib/search/weigh";

/** Long messages are read only near the query's longest word, and very long traces in two documents. */
const bounds = { maxMessages: 200, wholeCharacters: 100_000, nearCharacters: 10_000 };
const maxDocuments = 2;

export type Excerpt = { position: number; role: string | null; speaker: Speaker; text: string; ranges: TextRanges };

/** Best first. `atLeast`: not all matching messages were read. */
export type Excerpts = { excerpts: Excerpt[]; more: number; atLeast: boolean; score: number };

const maxExcerpts = 3;

/** A bound in time would make the order depend on load. */
const maxCharacters = 32_000_000;

/** None after two seconds. */
export async function readExcerpts(
  userId: string,
  traceIds: string[],
  query: SearchQuery,
  onlyProjectId?: string,
): Promise<Map<string, Excerpts>> {
  if (query.units.length === 0 || query.scope === "title" || traceIds.length === 0) return new Map();
  const find = async (tx: PoolClient) =>
    readMatches(tx, userId, traceIds, { query, matched: await matchBlocks(tx, userId, query, onlyProjectId) });
  const read = heavyRead(userId, find, { seconds: 2 });
  const texts = await read.catch((error) => {
    if (!isOverload(error)) throw error;
    return []; // a list without excerpts is still useful
  });
  return makeExcerpts(texts, query);
}

type Searched = { query: SearchQuery; matched: Matched; weights?: number[] };

/** @param meanwhile a query that runs while this process searches the texts */
export async function readBest<T>(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  search: Required<Searched>,
  meanwhile: () => Promise<T>,
): Promise<[Map<string, Excerpts>, T]> {
  const { query, weights } = search;
  const isRead = query.units.length > 0 && query.scope !== "title" && traceIds.length > 0;
  const texts = isRead ? await readMatches(tx, userId, traceIds, search) : [];
  const other = meanwhile();
  return Promise.all([makeExcerpts(texts, query, selectUnitWeights(query, weights)), other]);
}

/** Facts and excluded units appear in no text. */
function selectUnitWeights({ groups, units }: SearchQuery, weights: number[]): number[] {
  const all = groups.flatMap((group) => group.units);
  return units.map((unit) => weights[all.indexOf(unit)] ?? 0);
}

async function makeExcerpts(
  texts: MessageText[],
  query: SearchQuery,
  weights?: number[],
): Promise<Map<string, Excerpts>> {
  const byTrace = Map.groupBy(texts, ({ traceId }) => traceId);
  const excerpts = new Map<string, Excerpts>();
  const budget = { left: Math.ceil(maxCharacters / Math.max(1, query.units.length)) };
  for (const [traceId, messages] of byTrace) {
    const best = await findBest(messages, query, { budget, weights });
    if (!best) break;
    if (best.length > 0) excerpts.set(traceId, summarize(messages, best, query));
  }
  return excerpts;
}

async function readMatches(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  { query, matched, weights }: Searched,
): Promise<MessageText[]> {
  const within = (await haveParts(tx, userId, traceIds))
    ? { hits: await bestParts(tx, userId, matched, maxDocuments, weights), maxDocuments }
    : undefined;
  const telling = tellingUnits(query.units, weights && selectUnitWeights(query, weights));
  const word = longestWord(telling);
  return readTexts(tx, userId, traceIds, joinPatterns(telling), { ...bounds, word }, within);
}

/** The other words are nearly everywhere. */
const tellingShare = 0.7;

function tellingUnits(units: QueryUnit[], weights: number[] | undefined): QueryUnit[] {
  if (!weights) return units;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const byWeight = units
    .map((unit, at) => ({ unit, weight: weights[at] as number }))
    .sort((a, b) => b.weight - a.weight);
  let sum = 0;
  const enough = byWeight.findIndex(({ weight }) => {
    sum += weight;
    return sum >= tellingShare * total;
  });
  return byWeight.slice(0, Math.max(2, enough + 1)).map(({ unit }) => unit);
}

const longestWord = (units: QueryUnit[]) =>
  units
    .map(({ longest }) => longest)
    .reduce((a, b) => (b.length > a.length ? b : a))
    .toLowerCase();

function summarize(messages: MessageText[], best: ScoredMessage[], query: SearchQuery): Excerpts {
  const excerpts: Excerpt[] = [];
  const shown = new Set<ScoredMessage>();
  for (const scored of best) {
    if (excerpts.length === maxExcerpts) break;
    const excerpt = makeExcerpt(scored, query);
    if (excerpts.some(({ text, speaker }) => text === excerpt.text && speaker === excerpt.speaker)) continue;
    excerpts.push(excerpt);
    shown.add(scored);
  }
  return {
    excerpts,
    more: best.filter((scored) => scored.isFull && !shown.has(scored)).length,
    atLeast: messages.length === bounds.maxMessages || messages.length < (messages[0]?.matching ?? 0),
    score: scoreMessages(best),
  };
}

/**
 * `score` compares within the trace, `value` among all traces; `isFull` if no message of the trace has more of the
 * query.
 */
type ScoredMessage = {
  message: MessageText;
  speaker: Speaker;
  found: UnitMatches;
  score: number;
  value: number;
  isFull: boolean;
};

const scoreMessages = (best: ScoredMessage[]) => {
  const [first = 0, second = 0, third = 0] = best.map(({ value }) => value).toSorted((a, b) => b - a);
  return first + 0.2 * second + 0.1 * third;
};

const amongAll = 0.7;

const minShareOfBest = 0.6;

/** Undefined if the texts exceed the budget. */
async function findBest(
  messages: MessageText[],
  query: SearchQuery,
  { budget, weights }: { budget: { left: number }; weights: number[] | undefined },
): Promise<ScoredMessage[] | undefined> {
  const facts = listFacts(query);
  const scored: { message: MessageText; found: UnitMatches; facts: number }[] = [];
  const scoreMessage = (message: MessageText) => {
    if (budget.left < 0 || !isSaidBy(message, query.scope)) return;
    budget.left -= message.content.length;
    if (budget.left < 0) return;
    const found = findIn(composed(message.content), query);
    scored.push({ message, found, facts: facts.length > 0 ? countFacts(message, facts) : 0 });
  };
  await eachInSlices(messages, scoreMessage);
  if (budget.left < 0) return undefined;
  const rarity = computeRarity(
    scored.map(({ found }) => found),
    weights,
  );
  const has = scored.map(({ found, facts }) => computeShare(found, weights) + facts);
  const max = Math.max(0, ...has);
  const mostFacts = Math.max(0, ...scored.map(({ facts }) => facts));
  const failure = isFailureAsked(query) ? failureFactor : 1;
  return scored
    .map((one, at) => ({ ...one, has: has[at] as number }))
    .filter(({ has, facts }) => has > 0 && (has === max || (facts === mostFacts && has >= minShareOfBest * max)))
    .map(({ message, found, facts, has }) => {
      const { speaker, facts: own } = describe(message);
      const each =
        scoreText({ speaker, found, length: message.content.length }) * (own.includes("has:error") ? failure : 1);
      const valueBy = (rarity: number[]) => sumRarity(found, rarity) * each + facts;
      const value = weights ? valueBy(weights.map((weight) => weight * amongAll)) : 0;
      return { message, found, speaker, score: valueBy(rarity), value, isFull: has === max };
    })
    .toSorted((a, b) => b.score - a.score || a.message.position - b.message.position);
}

const listFacts = ({ groups }: SearchQuery): string[][] =>
  groups.flatMap(({ units, excluded }) => {
    const facts = units.flatMap(({ fact }) => fact ?? []);
    return excluded || facts.length < units.length ? [] : [facts];
  });

function countFacts(message: MessageText, groups: string[][]): number {
  const own = new Set(describe(message).facts.map((fact) => fact.toLowerCase()));
  return groups.filter((facts) => facts.some((fact) => own.has(fact))).length;
}

const failureFactor = 1.6;
const isFailureAsked = ({ units }: SearchQuery) =>
  units.some(({ written }) => /^(?:fail\w*|errors?|crash\w*)$/i.test(written));

const before = 60;
const length = 240;
const around = 600;

function makeExcerpt(
  { message: { position, role, content }, speaker, found }: ScoredMessage,
  query: SearchQuery,
): Excerpt {
  const whole = composed(content);
  const start = bestWindow(found, length)?.[0] ?? found.ranges[0]?.[0] ?? 0;
  const from = Math.max(0, start - around);
  const to = Math.min(whole.length, start + 2 * around);
  // The extra letter keeps a space before the match.
  const lead = plainText(`${whole.slice(from, start)}x`).slice(0, -1);
  const rest = plainText(whole.slice(start, to));
  const raw = rest === "" || findIn(rest, query).ranges.length === 0 ? oneLine(whole.slice(start, to)) : rest;
  const led = lastWords(lead, before);
  const line = `${led}${raw}`;
  const cut = firstWords(line, length).toWellFormed().replaceAll("\ufffd", "").trim();
  const hasBefore = from > 0 || led.length < lead.length;
  const text = `${hasBefore ? "…" : ""}${cut}${line.length > length || to < whole.length ? "…" : ""}`;
  return { position, role, speaker, text, ranges: together(text, findIn(text, query).ranges) };
}

/** Joins ranges, so that a marked line is one mark. */
function together(text: string, ranges: TextRanges): TextRanges {
  const joined: TextRanges = [];
  for (const [start, end] of ranges) {
    const last = joined.at(-1);
    if (last && text.slice(last[1], start).trim() === "") last[1] = end;
    else joined.push([start, end]);
  }
  return joined;
}

const maxWord = 24;

function lastWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = text.slice(text.length - max);
  const isWithin = /\S/.test(text.charAt(text.length - max - 1)) && /^\S/.test(end);
  const rest = isWithin ? /^\S+\s/.exec(end)?.[0].length : 0;
  return rest && rest <= maxWord ? end.slice(rest) : end;
}

function firstWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const begin = text.slice(0, max);
  const last = /\s\S+$/.exec(begin)?.[0].length ?? 0;
  return /\S/.test(text.charAt(max)) && last > 0 && last <= maxWord ? begin.slice(0, -last) : begin;
}

const oneLine = (text: string) => text.toWellFormed().replaceAll("\ufffd", "").replace(/\s+/g, " ").trim();
