// What a query finds in the text itself: where it stands, and what is around it.
import "server-only";
import type { PoolClient } from "pg";
import { snapshot } from "#lib/db/client";
import { findDocuments, type Hits, isHit } from "#lib/search/find";
import { findIn, phrasesOf, type Query, type Ranges } from "#lib/search/query";
import { composed } from "#lib/search/terms";

const queryCanceled = "57014";

/** Longer messages are looked at round the first place where the query's longest word stands. */
const wholeCharacters = 100_000;
const nearCharacters = 10_000;
/** How many messages of a session are read for its excerpts, and at a time for a find in it. */
const maxMessages = 200;
/** So many of the documents that a very long session is cut into are read, of those that are hits. */
const maxDocuments = 1;

type Text = { traceId: string; position: number; role: string | null; content: string };

/**
 * Of traces that have a query's terms, those in which its phrases of three words and more stand as they are written, in the
 * same order. What would take long to read, for one message is long or very many come into question, is believed.
 *
 * @param options.wholly whether of a very long session all is read that comes into question; otherwise the rest is believed.
 */
export async function keepMatching(
  tx: PoolClient,
  { userId, query, hits }: { userId: string; query: Query; hits: Hits },
  traceIds: string[],
  { wholly }: { wholly: boolean },
): Promise<string[]> {
  const phrases = phrasesOf(query);
  const values: unknown[] = [userId, traceIds, coarseOf({ units: phrases }), wholly ? null : maxDocuments];
  const { rows } = await tx.query<{ traceId: string; content: string | null }>(
    `select wanted.id as "traceId", found.content from unnest($2::uuid[]) as wanted (id)
     cross join lateral (
       select title as content from trace where user_id = $1 and id = wanted.id and lower(title) ~ $3
       union all
       select source_id from trace where user_id = $1 and id = wanted.id and lower(source_id) ~ $3
       union all
       (select case when length(content) <= ${wholeCharacters} then content end
        from ${messagesOfHits(hits, values, "$4")} where lower(content) ~ $3 limit ${maxMessages})
       union all
       (select null from search_document where user_id = $1 and trace_id = wanted.id and ${isHit(hits, values)}
        offset coalesce($4::int, ${2 ** 31 - 1}) limit 1)) as found`,
    values,
  );
  const texts = Map.groupBy(rows, ({ traceId }) => traceId);
  return traceIds.filter((id) => {
    const contents = (texts.get(id) ?? []).map(({ content }) => content);
    if (contents.length >= maxMessages || contents.includes(null)) return true;
    return phrases.every((unit) =>
      contents.some((text) => findIn(composed(text ?? ""), { units: [unit] }).found === 1),
    );
  });
}

/** The messages of `wanted`'s first documents that are hits, of the user who is `$1`. */
function messagesOfHits(hits: Hits, values: unknown[], limit: string): string {
  const bounded = `select *, lead(first_position) over (order by first_position) as next_position from search_document
    where user_id = $1 and trace_id = wanted.id`;
  return `(select first_position, coalesce(next_position, ${2 ** 31 - 1}) as next_position from (${bounded}) as search_document
      where ${isHit(hits, values)} order by first_position limit ${limit}::int) as document
    cross join lateral (select * from message where user_id = $1 and trace_id = wanted.id
      and position >= first_position and position < next_position) as message`;
}

/** A message in which a query was found. */
export type Excerpt = { position: number; role: string | null; text: string; ranges: Ranges };

/** At most three excerpts of a trace, and how many more messages match; `atLeast` where not all of them were read. */
export type Excerpts = { excerpts: Excerpt[]; more: number; atLeast: boolean };

const maxExcerpts = 3;

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
    excerpts: best.slice(0, maxExcerpts).map((message) => excerptOf(message, query)),
    more: Math.max(0, best.length - maxExcerpts),
    atLeast: messages.length === maxMessages,
  };
}

/** The messages that have the most of a query. */
function bestOf(messages: Text[], query: Query): Text[] {
  const judged = messages.map((message) => ({ message, found: findIn(composed(message.content), query).found }));
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

/** The messages in which any part of a query may stand, in the order of their positions; `findIn` decides. */
async function readTexts(tx: PoolClient, userId: string, traceIds: string[], query: Query): Promise<Text[]> {
  const values: unknown[] = [userId, traceIds, coarseOf(query), longestWord(query), maxMessages];
  const from = (await haveLong(tx, userId, traceIds))
    ? messagesOfHits(await findDocuments(tx, userId, query), values, `${maxDocuments}`)
    : "message where user_id = $1 and trace_id = wanted.id";
  const { rows } = await tx.query<Text>(
    `select wanted.id as "traceId", found.position, found.role, found.content
     from unnest($2::uuid[]) with ordinality as wanted (id, place)
     cross join lateral (
       select position, role, ${contentSql} as content from (select message.* from ${from}) as message
       where lower(content) ~ $3 order by position limit $5) as found
     order by place, position`,
    values,
  );
  return rows;
}

/** Whether any of the traces is so long that the index has several documents of it. */
async function haveLong(tx: PoolClient, userId: string, traceIds: string[]): Promise<boolean> {
  const { rowCount } = await tx.query(
    "select from search_document where user_id = $1 and trace_id = any($2) and first_position > 0 limit 1",
    [userId, traceIds],
  );
  return rowCount === 1;
}

/** A message's text, or what of a long one is round the word that is `$4`. */
const contentSql = `case when length(content) <= ${wholeCharacters} then content else
  substr(content, greatest(1, strpos(lower(content), $4) - ${nearCharacters}), ${2 * nearCharacters}) end`;

const coarseOf = ({ units }: Query) => units.map(({ coarse }) => coarse).join("|");
const longestWord = ({ units }: Query) =>
  units
    .map(({ longest }) => longest)
    .reduce((a, b) => (b.length > a.length ? b : a))
    .toLowerCase();
