// Lists of what is found: the index says which sessions have all words of a query, the traces say in which order.
import "server-only";
import type { PoolClient } from "pg";
import { snapshot } from "#lib/db/client";
import { findDocuments, type Hits } from "#lib/search/find";
import { parseQuery, phrasesOf, type Query } from "#lib/search/query";
import { keepMatching } from "#lib/search/text";
import { conditionsOf, type PlainSelection, type Selection } from "#lib/traces/conditions";

/** A place in the list's order: a trace's last activity and its id. */
export type Place = [activityAt: Date | string, id: string];

/**
 * Up to so many hits their traces are looked up; of more, the list is gone through from its top, since each look-up of a
 * hit costs as much as a step through the list, and many of its rows are hits.
 */
const fewHits = 4000;
/** How many traces of the list are looked at in one step; each step takes four times as many. */
const firstStep = 256;
/** Of so many sessions of a list the text is read, to see whether a phrase of three words and more stands in them. */
const mostReadOfList = 300;
/** And so many at once. */
const readAtOnce = 200;

const settings = { statement_timeout: "5s" };

/**
 * The ids of a user's traces that a query finds behind a place of the list, newest activity first.
 *
 * @throws SpoorError `invalid_request` as `parseQuery`.
 */
export async function searchTraces(userId: string, { q = "", ...filter }: Selection, page: Page): Promise<string[]> {
  const query = parseQuery(q);
  return snapshot(async (tx) => {
    const hits = await findDocuments(tx, userId, query);
    return hits.count === 0 ? [] : findPage(tx, { userId, filter, query, hits }, page);
  }, settings);
}

/** `mostRead`: of so many sessions the text is read where the index can't be sure; further ones are believed. */
type Page = { behind?: Place | undefined; limit: number; mostRead?: number };
/**
 * A selection with the ids of what its search finds, the newest so many, in that search's place.
 *
 * @param page.mostRead is `Infinity` where a session that the phrase does not stand in must not be among them.
 */
export async function lookedUp(
  userId: string,
  selection: Selection,
  page: { limit: number; mostRead?: number },
): Promise<PlainSelection> {
  const { q, ...plain } = selection;
  return q === undefined ? plain : { ...plain, ids: await searchTraces(userId, selection, page) };
}

type Search = { userId: string; filter: PlainSelection; query: Query; hits: Hits };
type Candidate = { id: string; activityAt: Date };

async function findPage(tx: PoolClient, search: Search, page: Page): Promise<string[]> {
  const { behind, limit, mostRead = mostReadOfList } = page;
  if (phrasesOf(search.query).length === 0) return idsOf(await nextHits(tx, search, { behind, limit }));
  const ids: string[] = [];
  let place = behind;
  const step = Math.min(limit, readAtOnce);
  for (let read = 0; ; read += step) {
    const candidates = await nextHits(tx, search, { behind: place, limit: step });
    const found = idsOf(candidates);
    ids.push(...(read < mostRead ? await keepMatching(tx, search.userId, found, search.query) : found));
    const last = candidates.at(-1);
    if (ids.length >= limit || candidates.length < step || !last) return ids.slice(0, limit);
    place = [last.activityAt, last.id];
  }
}

const idsOf = (candidates: Candidate[]) => candidates.map(({ id }) => id);

/** The next hits in the list's order. */
async function nextHits(tx: PoolClient, search: Search, page: Page): Promise<Candidate[]> {
  return search.hits.count <= fewHits ? lookUp(tx, search, page) : goThrough(tx, search, page);
}

/** The conditions on a user's traces of a filter and of a place in the list. */
function conditionsBehind({ userId, filter }: Search, behind: Place | undefined) {
  const { where, values } = conditionsOf(userId, filter);
  if (!behind) return { where, values };
  const place = `($${values.push(behind[0])}, $${values.push(behind[1])}::uuid)`;
  return { where: `${where} and (activity_at, id) < ${place}`, values };
}

async function lookUp(tx: PoolClient, search: Search, { behind, limit }: Page): Promise<Candidate[]> {
  const { where, values } = conditionsBehind(search, behind);
  const pairs = [...search.hits.slots].flatMap(([blockId, slots]) =>
    [...slots].map((slot) => [blockId, slot] as const),
  );
  const blockIds = `$${values.push(pairs.map(([blockId]) => blockId))}::bigint[]`;
  const slots = `$${values.push(pairs.map(([, slot]) => slot))}::smallint[]`;
  const { rows } = await tx.query<Candidate>(
    `with hit as materialized (
       select distinct found.trace_id from unnest(${blockIds}, ${slots}) as given (block_id, slot)
       cross join lateral (select trace_id from search_document where user_id = $1
         and search_document.block_id = given.block_id and search_document.slot = given.slot limit 1) as found)
     select same.id, same.activity_at as "activityAt" from hit cross join lateral (
       select id, activity_at from trace where ${where} and id = hit.trace_id limit 1) as same
     order by same.activity_at desc, same.id desc limit $${values.push(limit)}`,
    values,
  );
  return rows;
}

type Step = Candidate & { blockId: string | null; slot: number | null };

async function goThrough(tx: PoolClient, search: Search, { behind, limit }: Page): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let place = behind;
  for (let step = firstStep; ; step *= 4) {
    const rows = await readStep(tx, search, { behind: place, limit: step });
    for (const { id, activityAt, blockId, slot } of rows) {
      if (blockId === null || slot === null || !search.hits.slots.get(blockId)?.has(slot)) continue;
      if (found.at(-1)?.id !== id) found.push({ id, activityAt });
      if (found.length === limit) return found;
    }
    const last = rows.at(-1);
    if (rows.length < step || !last) return found;
    place = [last.activityAt, last.id];
  }
}

/** The next traces of the list, each with its documents: one as a rule, none before it is indexed. */
async function readStep(tx: PoolClient, search: Search, { behind, limit }: Page): Promise<Step[]> {
  const { where, values } = conditionsBehind(search, behind);
  const { rows } = await tx.query<Step>(
    `select step.id, step.activity_at as "activityAt", document.block_id as "blockId", document.slot from (
       select id, activity_at from trace where ${where}
       order by activity_at desc, id desc limit $${values.push(limit)}) as step
     left join lateral (select block_id, slot from search_document where user_id = $1 and trace_id = step.id
       offset 0) as document on true
     order by step.activity_at desc, step.id desc`,
    values,
  );
  return rows;
}
