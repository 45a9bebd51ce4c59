// Where in a trace a query is found, and the text around it.
import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices } from "#lib/concurrency/slices";
import { heavyRead } from "#lib/db/heavy";
import { isOverload } from "#lib/errors";
import { type Matched, matchBlocks } from "#lib/search/find";
import { bestParts } from "#lib/search/parts";
import { isSaidBy } from "#lib/search/phrases";
import { plainText } from "#lib/search/plain";
import type { SearchQuery } from "#lib/search/query";
import { describe, type Speaker } from "#lib/search/speaker";
import { haveParts, type MessageText, readTexts } from "#lib/search/sql/read";
import { composed } from "#lib/search/terms";
import { findIn, joinPatterns, type QueryUnit, type TextRanges, type UnitMatches } from "#lib/search/unit";
import { bestWindow, computeRarity, computeShare, scoreText, sumRarity } from "#lib/search/weigh";

/** What is read of one trace: of a long message the surroundings of the query's longest word, of a very long trace two documents. */
const bounds = { maxMessages: 200, wholeCharacters: 100_000, nearCharacters: 10_000 };
const maxDocuments = 2;

/** A message in which a query was found. */
export type Excerpt = { position: number; role: string | null; speaker: Speaker; text: string; ranges: TextRanges };

/**
 * At most three excerpts of a trace, the best first, and how many more messages match; `atLeast` where not all of them were
 * read. `score` says how well the best one matches.
 */
export type Excerpts = { excerpts: Excerpt[]; more: number; atLeast: boolean; score: number };

const maxExcerpts = 3;

/**
 * Of texts that were read, so many characters are looked through for each unit of one: the traces after that have no excerpts. No time
 * ends it, since the order of a list depends on it, and must not depend on the load.
 */
const maxCharacters = 32_000_000;

/**
 * Excerpts of a user's traces around what a query finds. Those messages match that have most of what any message of their trace
 * has of the query. After two seconds there are none.
 */
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
    return []; // the list is worth more than its excerpts
  });
  return makeExcerpts(texts, query);
}

/** What a search found by the index; `weights` of its words among all traces. */
type Searched = { query: SearchQuery; matched: Matched; weights?: number[] };

/**
 * As `readExcerpts`, in a search's own snapshot, with scores by the weights of the query's words.
 *
 * @param beside what the database does meanwhile, while this process looks through the texts.
 */
export async function readBest<T>(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  search: Required<Searched>,
  beside: () => Promise<T>,
): Promise<[Map<string, Excerpts>, T]> {
  const { query, weights } = search;
  const isRead = query.units.length > 0 && query.scope !== "title" && traceIds.length > 0;
  const texts = isRead ? await readMatches(tx, userId, traceIds, search) : [];
  const other = beside();
  return Promise.all([makeExcerpts(texts, query, weightsOfUnits(query, weights)), other]);
}

/** The weights of the units that texts show: those of all groups, without facts and what is excluded. */
function weightsOfUnits({ groups, units }: SearchQuery, weights: number[]): number[] {
  const all = groups.flatMap((group) => group.units);
  return units.map((unit) => weights[all.indexOf(unit)] ?? 0);
}

/** The excerpts of texts that were read, by their traces. */
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
  const telling = tellingUnits(query.units, weights && weightsOfUnits(query, weights));
  const word = longestWord(telling);
  return readTexts(tx, userId, traceIds, joinPatterns(telling), { ...bounds, word }, within);
}

/** How much of the weight of a query's words its rarest ones have by which messages are read: the others are nearly everywhere. */
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
  for (const judged of best) {
    if (excerpts.length === maxExcerpts) break;
    const excerpt = makeExcerpt(judged, query);
    // Agents keep some words twice.
    if (excerpts.some(({ text, speaker }) => text === excerpt.text && speaker === excerpt.speaker)) continue;
    excerpts.push(excerpt);
    shown.add(judged);
  }
  return {
    excerpts,
    more: best.filter((judged) => judged.isFull && !shown.has(judged)).length,
    atLeast: messages.length === bounds.maxMessages || messages.length < (messages[0]?.matching ?? 0),
    score: scoreMessages(best),
  };
}

/** A message: `score` among those of its trace, `worth` among those of all; `isFull` if none of its trace has more of the query. */
type ScoredMessage = {
  message: MessageText;
  speaker: Speaker;
  found: UnitMatches;
  score: number;
  worth: number;
  isFull: boolean;
};

/** What the best message is worth, and a little for others that are about the same. */
const scoreMessages = (best: ScoredMessage[]) => {
  const [first = 0, second = 0, third = 0] = best.map(({ worth }) => worth).toSorted((a, b) => b - a);
  return first + 0.2 * second + 0.1 * third;
};

/** What a message's words are worth beside what the index knows of its trace. */
const amongAll = 0.7;

/** How much of what the best message has of a query another one must have. */
const minShareOfBest = 0.6;

/** The messages that have most of a query, the best first; undefined where their texts exceed the budget. */
async function findBest(
  messages: MessageText[],
  query: SearchQuery,
  { budget, weights }: { budget: { left: number }; weights: number[] | undefined },
): Promise<ScoredMessage[] | undefined> {
  const facts = listFacts(query);
  const judged: { message: MessageText; found: UnitMatches; facts: number }[] = [];
  const judge = (message: MessageText) => {
    if (budget.left < 0 || !isSaidBy(message, query.scope)) return;
    budget.left -= message.content.length;
    if (budget.left < 0) return;
    const found = findIn(composed(message.content), query);
    judged.push({ message, found, facts: facts.length > 0 ? countFacts(message, facts) : 0 });
  };
  await eachInSlices(messages, judge);
  if (budget.left < 0) return undefined;
  const rarity = computeRarity(
    judged.map(({ found }) => found),
    weights,
  );
  const has = judged.map(({ found, facts }) => computeShare(found, weights) + facts);
  const max = Math.max(0, ...has);
  const mostFacts = Math.max(0, ...judged.map(({ facts }) => facts));
  const failure = isFailureAsked(query) ? worthOfFailure : 1;
  return judged
    .map((one, at) => ({ ...one, has: has[at] as number }))
    .filter(({ has, facts }) => has > 0 && (has === max || (facts === mostFacts && has >= minShareOfBest * max)))
    .map(({ message, found, facts, has }) => {
      const { speaker, facts: own } = describe(message);
      const each =
        scoreText({ speaker, found, length: message.content.length }) * (own.includes("has:error") ? failure : 1);
      const worthBy = (rarity: number[]) => sumRarity(found, rarity) * each + facts;
      const worth = weights ? worthBy(weights.map((weight) => weight * amongAll)) : 0;
      return { message, found, speaker, score: worthBy(rarity), worth, isFull: has === max };
    })
    .toSorted((a, b) => b.score - a.score || a.message.position - b.message.position);
}

/** The facts that a query asks for: of each group one at least. */
const listFacts = ({ groups }: SearchQuery): string[][] =>
  groups.flatMap(({ units, excluded }) => {
    const facts = units.flatMap(({ fact }) => fact ?? []);
    return excluded || facts.length < units.length ? [] : [facts];
  });

/** Of how many groups a message has one of the facts. */
function countFacts(message: MessageText, groups: string[][]): number {
  const own = new Set(describe(message).facts.map((fact) => fact.toLowerCase()));
  return groups.filter((facts) => facts.some((fact) => own.has(fact))).length;
}

/** What a failed call's words are worth to somebody who asks for a failure. */
const worthOfFailure = 1.6;
const isFailureAsked = ({ units }: SearchQuery) =>
  units.some(({ written }) => /^(?:fail\w*|errors?|crash\w*)$/i.test(written));

const before = 60;
const length = 240;
/** How much is read on each side, since what is not shown takes part of it. */
const around = 600;

function makeExcerpt(
  { message: { position, role, content }, speaker, found }: ScoredMessage,
  query: SearchQuery,
): Excerpt {
  const whole = composed(content);
  const start = bestWindow(found, length)?.[0] ?? found.ranges[0]?.[0] ?? 0;
  const from = Math.max(0, start - around);
  const to = Math.min(whole.length, start + 2 * around);
  // With a letter behind it, so that a space before what was found stays.
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

/** Ranges with nothing but spaces between them as one: a line in which every word is marked is read as one mark. */
function together(text: string, ranges: TextRanges): TextRanges {
  const joined: TextRanges = [];
  for (const [start, end] of ranges) {
    const last = joined.at(-1);
    if (last && text.slice(last[1], start).trim() === "") last[1] = end;
    else joined.push([start, end]);
  }
  return joined;
}

/** A word longer than that is cut in two: an address, or a language that puts no spaces. */
const maxWord = 24;

/** The end of a text, from the beginning of a word. */
function lastWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = text.slice(text.length - max);
  const isWithin = /\S/.test(text.charAt(text.length - max - 1)) && /^\S/.test(end);
  const rest = isWithin ? /^\S+\s/.exec(end)?.[0].length : 0;
  return rest && rest <= maxWord ? end.slice(rest) : end;
}

/** The beginning of a text, to the end of a word. */
function firstWords(text: string, max: number): string {
  if (text.length <= max) return text;
  const begin = text.slice(0, max);
  const last = /\s\S+$/.exec(begin)?.[0].length ?? 0;
  return /\S/.test(text.charAt(max)) && last > 0 && last <= maxWord ? begin.slice(0, -last) : begin;
}

const oneLine = (text: string) => text.toWellFormed().replaceAll("\ufffd", "").replace(/\s+/g, " ").trim();
