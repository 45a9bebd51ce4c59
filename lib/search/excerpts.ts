// Where in a trace a query is found, and the text around it.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { isOverload } from "#lib/errors";
import { findDocuments } from "#lib/search/find";
import { makePause } from "#lib/search/pause";
import { findIn, patternOf, type Query, type Ranges } from "#lib/search/query";
import { haveParts, readTexts, type Text } from "#lib/search/sql/read";
import { composed } from "#lib/search/terms";

/** What is read of one trace: of a long message the surroundings of the query's longest word, of a very long trace one document. */
const bounds = { maxMessages: 200, wholeCharacters: 100_000, nearCharacters: 10_000 };
const maxDocuments = 1;

/** A message in which a query was found. */
export type Excerpt = { position: number; role: string | null; text: string; ranges: Ranges };

/** At most three excerpts of a trace, and how many more messages match; `atLeast` where not all of them were read. */
export type Excerpts = { excerpts: Excerpt[]; more: number; atLeast: boolean };

const maxExcerpts = 3;

/** How long the list waits for excerpts of texts that were read; the traces after that have none. */
const maxFindingMs = 500;

/**
 * Excerpts of a user's traces around what a query finds. Those messages match that have as many of the query's words and
 * phrases as any message of their trace: all of them, where there is such a message. After two seconds there are none.
 */
export async function readExcerpts(userId: string, traceIds: string[], query: Query): Promise<Map<string, Excerpts>> {
  const read = heavyRead(userId, (tx) => readMatches(tx, userId, traceIds, query), { seconds: 2 });
  const texts = await read.catch((error) => {
    if (!isOverload(error)) throw error;
    return []; // the list is worth more than its excerpts
  });
  const byTrace = Map.groupBy(texts, ({ traceId }) => traceId);
  const excerpts = new Map<string, Excerpts>();
  const deadline = performance.now() + maxFindingMs;
  for (const [traceId, messages] of byTrace) {
    const best = await bestOf(messages, query, deadline);
    if (!best) break;
    excerpts.set(traceId, summarize(messages, best, query));
  }
  return excerpts;
}

async function readMatches(tx: PoolClient, userId: string, traceIds: string[], query: Query): Promise<Text[]> {
  const within = (await haveParts(tx, userId, traceIds))
    ? { hits: await findDocuments(tx, userId, query), maxDocuments }
    : undefined;
  return readTexts(tx, userId, traceIds, patternOf(query), { ...bounds, word: longestWord(query) }, within);
}

const longestWord = ({ units }: Query) =>
  units
    .map(({ longest }) => longest)
    .reduce((a, b) => (b.length > a.length ? b : a))
    .toLowerCase();

function summarize(messages: Text[], best: Text[], query: Query): Excerpts {
  return {
    excerpts: best.slice(0, maxExcerpts).map((message) => excerptOf(message, query)),
    more: Math.max(0, best.length - maxExcerpts),
    atLeast: messages.length === bounds.maxMessages,
  };
}

/** The messages that have the most units of a query; undefined where that is not known at the deadline. */
async function bestOf(messages: Text[], query: Query, deadline: number): Promise<Text[] | undefined> {
  const pause = makePause();
  const judged: { message: Text; found: number }[] = [];
  for (const message of messages) {
    judged.push({ message, found: findIn(composed(message.content), query).found });
    await pause();
    if (performance.now() > deadline) return undefined;
  }
  const max = Math.max(1, ...judged.map(({ found }) => found));
  return judged.filter(({ found }) => found === max).map(({ message }) => message);
}

const before = 60;
const length = 240;

function excerptOf({ position, role, content }: Text, query: Query): Excerpt {
  const whole = composed(content);
  const [first] = findIn(whole, query).ranges;
  const start = Math.max(0, (first?.[0] ?? 0) - before);
  const end = Math.min(whole.length, start + length);
  const cut = whole.slice(start, end).toWellFormed().replaceAll("\ufffd", "").replaceAll(/\s+/g, " ").trim();
  const text = `${start > 0 ? "…" : ""}${cut}${end < whole.length ? "…" : ""}`;
  return { position, role, text, ranges: findIn(text, query).ranges };
}
