// Lists of what is found: the index says which sessions have all words of a query, the traces say in which order.
import "server-only";
import type { PoolClient } from "pg";
import { cache } from "react";
import { snapshot } from "#lib/db/client";
import { findDocuments, type Hits, hitsOf, isHit } from "#lib/search/find";
import { parseQuery, phrasesOf, type Query } from "#lib/search/query";
import { keepMatching } from "#lib/search/text";
import { conditionsOf, type PlainSelection, type Selection } from "#lib/traces/conditions";

/** A place in the list's order: a trace's last activity and its id. */
export type Place = [activityAt: Date | string, id: string];

/** What a row costs to be read in the list's order, to be looked up from a hit, and to be read where all are, relatively. */
const costs = { ofList: 3, ofHit: 5, ofAll: 1.5 };
/** Of so many sessions of a list the text is read, to see whether a phrase of three words and more stands in them. */
const maxReadPerList = 100;
/** And so many at once. */
const readAtOnce = 50;

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
    return hits.count === 0 ? [] : findPage(tx, { userId, filter, text: q, query, hits }, page);
  }, settings);
}

/** `maxRead`: of so many sessions the text is read where the index can't be sure; further ones are believed. */
type Page = { behind?: Place | undefined; limit: number; maxRead?: number };
/**
 * A selection with the ids of what its search finds, the newest so many, in that search's place.
 *
 * @param page.maxRead is `Infinity` where a session that the phrase does not stand in must not be among them.
 */
export async function lookedUp(
  userId: string,
  selection: Selection,
  page: { limit: number; maxRead?: number },
): Promise<PlainSelection> {
  const { q, ...plain } = selection;
  return q === undefined ? plain : { ...plain, ids: await searchTraces(userId, selection, page) };
}

/** The newest so many ids that a search finds; while one page is rendered, the same search is made once. */
export const foundIds = (userId: string, selection: Selection, limit: number): Promise<string[]> =>
  foundOnce(userId, JSON.stringify(selection), limit);
const foundOnce = cache((userId: string, selection: string, limit: number) =>
  searchTraces(userId, JSON.parse(selection), { limit }),
);

type Search = { userId: string; filter: PlainSelection; text: string; query: Query; hits: Hits };
async function findPage(tx: PoolClient, search: Search, { behind, limit, maxRead = maxReadPerList }: Page) {
  if (phrasesOf(search.query).length === 0) return nextHits(tx, search, { behind, limit });
  const candidates = await nextHits(tx, search, { behind, limit: Math.min(limit + maxRead, Number.MAX_SAFE_INTEGER) });
  const ids: string[] = [];
  for (let read = 0; read < candidates.length && ids.length < limit; read += readAtOnce) {
    const some = candidates.slice(read, read + readAtOnce);
    ids.push(...(read < maxRead ? await matchingOnce(tx, search, some, maxRead) : some));
  }
  return ids.slice(0, limit);
}

/** What was read while one page is rendered: its list and its count ask for the same sessions. */
const readSoFar = cache(() => new Map<string, Promise<string[]>>());

function matchingOnce(tx: PoolClient, search: Search, ids: string[], maxRead: number): Promise<string[]> {
  const key = [search.userId, search.text, maxRead, ...ids].join(" ");
  const known = readSoFar();
  const matching = known.get(key) ?? keepMatching(tx, search, ids, { wholly: maxRead === Number.POSITIVE_INFINITY });
  known.set(key, matching);
  return matching;
}

/** The conditions on a user's traces of a filter and of a place in the list. */
function conditionsBehind({ userId, filter }: Search, behind: Place | undefined) {
  const { where, values } = conditionsOf(userId, filter);
  if (!behind) return { where, values };
  const place = `($${values.push(behind[0])}, $${values.push(behind[1])}::uuid)`;
  return { where: `${where} and (activity_at, id) < ${place}`, values };
}

/**
 * The next hits in the list's order. Where many rows of the list are hits, it is gone through from its top, up to twice as
 * many rows as that takes if hits are evenly spread; otherwise the hits' traces are looked up.
 */
async function nextHits(tx: PoolClient, search: Search, page: Page): Promise<string[]> {
  const { count, documents } = search.hits;
  const rows = Math.ceil((2 * page.limit * documents) / count);
  const costOfHits = Math.min(costs.ofHit * count, costs.ofAll * documents);
  if (costs.ofList * rows < costOfHits) {
    const ids = await goThrough(tx, search, page, rows);
    if (ids) return ids;
  }
  return costs.ofHit * count < costs.ofAll * documents ? lookUp(tx, search, page) : joinAll(tx, search, page);
}

const inOrder = "order by activity_at desc, id desc";

/** The next hits, if the first so many rows of the list have as many, or are all of it; undefined otherwise. */
async function goThrough(
  tx: PoolClient,
  search: Search,
  { behind, limit }: Page,
  max: number,
): Promise<string[] | undefined> {
  const { where, values } = conditionsBehind(search, behind);
  const bounded = `limit $${values.push(max)}`;
  const counted = [...values];
  // The planner multiplies how rare the values of a filter are, and would read and sort all of the list for a few rows.
  await tx.query("set local enable_sort = off");
  const ids = await idsOf(
    tx,
    `select id from (select id, activity_at from trace where ${where} ${inOrder} ${bounded}) as listed
     cross join lateral (select from search_document where user_id = $1 and trace_id = listed.id
       and ${isHit(search.hits, values)} limit 1) as hit
     ${inOrder} limit $${values.push(limit)}`,
    values,
  );
  await tx.query("set local enable_sort = on");
  if (ids.length === limit) return ids;
  const { rowCount } = await tx.query(`select from trace where ${where} ${bounded}`, counted);
  return (rowCount ?? 0) < max ? ids : undefined;
}

/** Looks up the trace of each hit. */
async function lookUp(tx: PoolClient, search: Search, { behind, limit }: Page): Promise<string[]> {
  const { where, values } = conditionsBehind(search, behind);
  const hits = [...hitsOf(search.hits)];
  const blockIds = `$${values.push(hits.map(([blockId]) => blockId))}::bigint[]`;
  const slots = `$${values.push(hits.map(([, slot]) => slot))}::smallint[]`;
  return idsOf(
    tx,
    // The limits make each of them one look-up, whatever the planner expects of the tables.
    `with hit as materialized (
       select distinct found.trace_id from unnest(${blockIds}, ${slots}) as given (block_id, slot)
       cross join lateral (select trace_id from search_document where user_id = $1
         and search_document.block_id = given.block_id and search_document.slot = given.slot limit 1) as found)
     select same.id from hit cross join lateral (
       select id, activity_at from trace where ${where} and id = hit.trace_id limit 1) as same
     ${inOrder} limit $${values.push(limit)}`,
    values,
  );
}

/** Reads all of a user's documents and all rows of the list. */
async function joinAll(tx: PoolClient, search: Search, { behind, limit }: Page): Promise<string[]> {
  const { where, values } = conditionsBehind(search, behind);
  return idsOf(
    tx,
    // `offset 0` keeps the planner, who expects few hits, from looking each of them up.
    `with hit as materialized (
       select distinct trace_id from search_document where user_id = $1 and ${isHit(search.hits, values)})
     select id from (select id, activity_at from trace where ${where} offset 0) as listed
     join hit on hit.trace_id = listed.id ${inOrder} limit $${values.push(limit)}`,
    values,
  );
}

async function idsOf(tx: PoolClient, statement: string, values: unknown[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(statement, values);
  return rows.map(({ id }) => id);
}
