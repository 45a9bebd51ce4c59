import "server-only";
import type { PoolClient } from "pg";
import { cache } from "react";
import { heavyRead, type Patience } from "#lib/db/heavy";
import { findDocuments, type Hits, iterateHits } from "#lib/search/index/find-documents";
import { keepMatching } from "#lib/search/phrases";
import { getUnprovenGroups, parseQuery, type SearchQuery } from "#lib/search/query";
import { findByFiles } from "#lib/search/sql/file-search";
import { lookUpHits, scanList } from "#lib/search/sql/hits";
import type { ListPlace, PlainSelection, Selection } from "#lib/search/sql/selection";

/** Measured cost of a row read in the list's order, relative to a hit looked up by its id. */
const costs = { ofList: 3, ofHit: 5 };
const maxVerified = 100;
const verifiedAtOnce = 50;

/** Traces beyond `maxVerified` are accepted unverified. */
type SearchPage = {
  after?: ListPlace | undefined;
  limit: number;
  maxVerified?: number;
  patience?: Patience | undefined;
};

/**
 * Newest activity first.
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `heavyRead`
 */
export async function searchTraces(
  userId: string,
  { q = "", ...given }: Selection,
  page: SearchPage,
): Promise<string[]> {
  const { files, rows, ...query } = parseQuery(q);
  const selection = { ...given, files, rows };
  const search = async (tx: PoolClient) => {
    if (query.groups.length === 0) return findByFiles(tx, { userId, selection, after: page.after }, page.limit);
    const hits = await findDocuments(tx, userId, query, given.onlyProjectId);
    return hits.count === 0 ? [] : findPage(tx, { userId, selection, text: q, query, hits }, page);
  };
  return heavyRead(userId, search, { patience: page.patience });
}

/** @param page.maxVerified `Infinity` if every trace must have the phrase */
export async function resolveSearch(
  userId: string,
  selection: Selection,
  page: { limit: number; maxVerified?: number },
): Promise<PlainSelection> {
  const { q, ...plain } = selection;
  return q === undefined ? plain : { ...plain, ids: await searchTraces(userId, selection, page) };
}

/** Cached while one page is rendered. */
export const findIds = (userId: string, selection: Selection, limit: number): Promise<string[]> =>
  findOnce(userId, JSON.stringify(selection), limit);
const findOnce = cache((userId: string, selection: string, limit: number) =>
  searchTraces(userId, JSON.parse(selection), { limit }),
);

type Search = { userId: string; selection: PlainSelection; text: string; query: SearchQuery; hits: Hits };

async function findPage(tx: PoolClient, search: Search, page: SearchPage): Promise<string[]> {
  const { after, limit, maxVerified: max = maxVerified } = page;
  if (getUnprovenGroups(search.query).length === 0) return listHits(tx, search, { after, limit });
  const candidates = await listHits(tx, search, { after, limit: Math.min(limit + max, Number.MAX_SAFE_INTEGER) });
  const ids: string[] = [];
  for (let at = 0; at < candidates.length && ids.length < limit; at += verifiedAtOnce) {
    const some = candidates.slice(at, at + verifiedAtOnce);
    ids.push(...(at < max ? await verifyOnce(tx, search, some, max) : some));
  }
  return ids.slice(0, limit);
}

/** A page's list and count verify the same traces. */
const verifiedSoFar = cache(() => new Map<string, Promise<string[]>>());

function verifyOnce(tx: PoolClient, search: Search, ids: string[], max: number): Promise<string[]> {
  const key = [search.userId, search.text, max, ...ids].join(" ");
  const known = verifiedSoFar();
  const matching = known.get(key) ?? keepMatching(tx, search, ids, { all: max === Number.POSITIVE_INFINITY });
  known.set(key, matching);
  return matching;
}

/** A scan may take twice the rows that evenly spread hits would need. */
export async function listHits(
  tx: PoolClient,
  { userId, selection, hits }: Hitting,
  { after, limit }: SearchPage,
): Promise<string[]> {
  const scope = { userId, selection, after };
  const maxRows = countRowsToScan(hits, limit);
  const scanned = maxRows && (await scanList(tx, scope, hits, { limit, maxRows }));
  return scanned || lookUpHits(tx, scope, [...iterateHits(hits)], limit);
}

export async function someHits(tx: PoolClient, search: Hitting, limit: number): Promise<string[]> {
  const { userId, selection, hits } = search;
  if (countRowsToScan(hits, limit) > 0) return listHits(tx, search, { limit });
  const scope = { userId, selection, after: undefined };
  const places = [...iterateHits(hits)];
  const ids = new Set<string>(); // a trace may have several documents
  for (let at = 0; at < places.length && ids.size < limit; at += limit)
    for (const id of await lookUpHits(tx, scope, places.slice(at, at + limit), limit)) ids.add(id);
  return [...ids].slice(0, limit);
}

type Hitting = Pick<Search, "userId" | "selection" | "hits">;

function countRowsToScan({ count, documents }: Hits, limit: number): number {
  const rows = Math.ceil((2 * limit * documents) / count);
  return costs.ofList * rows < costs.ofHit * count ? rows : 0;
}
