// What a query finds in the text itself: where it stands, and what is around it.
import "server-only";
import type { PoolClient } from "pg";
import { snapshot } from "#lib/db/client";
import { findIn, type Query, type Ranges } from "#lib/search/query";
import { composed } from "#lib/search/terms";

const queryCanceled = "57014";

/** Longer messages are looked at round the first place where the query's longest word stands. */
const wholeCharacters = 100_000;
const nearCharacters = 10_000;
/** How many messages of a session are read for its excerpts, and at a time for a find in it. */
const mostMessages = 200;

type Text = { traceId: string; position: number; role: string | null; content: string };

/** Traces of which a phrase's words are known to be there: those where it stands as it is written, in the same order. */
export async function keepMatching(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  query: Query,
): Promise<string[]> {
  const most = new Map<string, number>();
  for (const { traceId, content } of await readTexts(tx, userId, traceIds, query)) {
    most.set(traceId, Math.max(most.get(traceId) ?? 0, findIn(composed(content), query).found));
  }
  return traceIds.filter((id) => (most.get(id) ?? 0) > 0);
}

/** A message in which a query was found. */
export type Excerpt = { position: number; role: string | null; text: string; ranges: Ranges };

/** At most three excerpts of a trace, and how many more messages match; `atLeast` where not all of them were read. */
export type Excerpts = { excerpts: Excerpt[]; more: number; atLeast: boolean };

const mostExcerpts = 3;

/**
 * Excerpts of traces round what a query finds. Those messages match that have as many of the query's words and phrases as
 * any message of their trace: all of them, where there is such a message.
 */
export async function excerptsOf(userId: string, traceIds: string[], query: Query): Promise<Map<string, Excerpts>> {
  const read = snapshot((tx) => readTexts(tx, userId, traceIds, query), { statement_timeout: "2s" });
  const texts = await read.catch((error) => {
    if (error.code !== queryCanceled) throw error;
    return []; // the list is worth more than its excerpts
  });
  const byTrace = Map.groupBy(texts, ({ traceId }) => traceId);
  return new Map([...byTrace].map(([traceId, messages]) => [traceId, summarize(messages, query)]));
}

function summarize(messages: Text[], query: Query): Excerpts {
  const best = bestOf(messages, query);
  return {
    excerpts: best.slice(0, mostExcerpts).map((message) => excerptOf(message, query)),
    more: Math.max(0, best.length - mostExcerpts),
    atLeast: messages.length === mostMessages,
  };
}

/** The messages that have the most of a query. */
function bestOf(messages: Text[], query: Query): Text[] {
  const judged = messages.map((message) => ({ message, found: findIn(composed(message.content), query).found }));
  const most = Math.max(1, ...judged.map(({ found }) => found));
  return judged.filter(({ found }) => found === most).map(({ message }) => message);
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

/**
 * The messages in which any part of a query may stand, in the order of their positions. PostgreSQL folds the case of ASCII
 * alone, wherever it is set to C; for any other letter that has a case, anything goes, and `findIn` decides.
 */
async function readTexts(tx: PoolClient, userId: string, traceIds: string[], query: Query): Promise<Text[]> {
  const { rows } = await tx.query<Text>(
    `select wanted.id as "traceId", found.position, found.role, found.content
     from unnest($2::uuid[]) with ordinality as wanted (id, place)
     cross join lateral (
       select position, role, ${contentSql} as content
       from message where user_id = $1 and trace_id = wanted.id and content ilike any ($3)
       order by position limit $5) as found
     order by place, position`,
    [userId, traceIds, patternsOf(query), longestWord(query), mostMessages],
  );
  return rows;
}

/** A message's text, or what of a long one is round the word that is `$4`. */
const contentSql = `case when length(content) <= ${wholeCharacters} then content else
  substr(content, greatest(1, strpos(lower(content), $4) - ${nearCharacters}), ${2 * nearCharacters}) end`;

/** Patterns of LIKE: a unit's words, one behind the other. */
const patternsOf = ({ units }: Query) => units.map(({ needle }) => `%${needle.map(literal).join("%")}%`);
const literal = (word: string) => word.replaceAll(/[^\x20-\x7e]/g, caseless);
const caseless = (character: string) => (character.toLowerCase() === character.toUpperCase() ? character : "_");
const longestWord = ({ units }: Query) =>
  units
    .flatMap(({ needle }) => needle)
    .reduce((a, b) => (b.length > a.length ? b : a))
    .toLowerCase();

/**
 * Where a query stands in one session.
 *
 * @returns the positions of the messages that match as for `excerptsOf`, in their order, and how many these are.
 */
export async function findInTrace(
  userId: string,
  traceId: string,
  query: Query,
): Promise<{ positions: number[]; count: number }> {
  return snapshot(
    async (tx) => {
      const most: { found: number; positions: number[] } = { found: 1, positions: [] };
      for (let after = -1; ; ) {
        const { rows } = await tx.query<{ position: number; content: string }>(
          `select position, ${contentSql} as content from message
           where user_id = $1 and trace_id = $2 and content ilike any ($3) and position > $5
           order by position limit $6`,
          [userId, traceId, patternsOf(query), longestWord(query), after, mostMessages],
        );
        for (const { position, content } of rows) {
          const { found } = findIn(composed(content), query);
          if (found > most.found) Object.assign(most, { found, positions: [] });
          if (found === most.found) most.positions.push(position);
        }
        const last = rows.at(-1);
        if (rows.length < mostMessages || !last) return { positions: most.positions, count: most.positions.length };
        after = last.position;
      }
    },
    { statement_timeout: "10s" },
  );
}
