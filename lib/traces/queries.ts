import "server-only";
import { z } from "zod";
import { notFound } from "#lib/core/errors";
import { decodeCursor, encodeCursor, makeCursorError, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { Patience } from "#lib/db/heavy";
import { type HiddenNames, readHiddenNames } from "#lib/masking/for-others";
import { isRanked } from "#lib/search/query";
import { type Ranking, rankTraces } from "#lib/search/rank-traces";
import type { SearchMatch } from "#lib/search/schema";
import { resolveSearch, searchTraces } from "#lib/search/search-traces";
import { type ListPlace, type PlainSelection, type Selection, tellUpdated } from "#lib/search/sql/selection";
import { type Order, type Sort, sorts, type traceShape } from "#lib/traces/schema";
import {
  type ListedRow,
  type Neighbour,
  readBoundedRows,
  readNeighbour,
  readRows,
  type TraceRow,
  traceFields,
} from "#lib/traces/sql/list";
import { isSortKey, readSorted } from "#lib/traces/sql/sorted";
import { readPlace, type SessionFolders } from "#lib/transcript/files/paths";
import { getShownTitle, getTitle } from "#lib/transcript/titles/choose-title";

export type Trace = z.input<typeof traceShape>;
export type { TraceRow };

export function presentTrace(row: TraceRow): Trace {
  const { id, source, sourceId, model, project, messageCount, sanitized, recordedNano } = row;
  const { parentId, parentRelation, projectId, filesChanged, linesAdded, linesRemoved } = row;
  return {
    ...{ id, source, sourceId, model, project, messageCount, sanitized },
    title: getTitle(row),
    shortTitle: getShownTitle(row),
    createdAt: row.createdAt?.toISOString() ?? null,
    updatedAt: tellUpdated(row),
    dated: row.dated,
    tokenCount: Number(row.tokenCount),
    metadata: row.metadata as Trace["metadata"],
    usage: {
      inputTokens: Number(row.inputTokens),
      outputTokens: Number(row.outputTokens),
      cacheReadTokens: Number(row.cacheReadTokens),
      cacheWrite5mTokens: Number(row.cacheWrite5mTokens),
      cacheWrite1hTokens: Number(row.cacheWrite1hTokens),
      reasoningTokens: Number(row.reasoningTokens),
      unpricedTokens: Number(row.unpricedTokens),
      tierNotPricedTokens: Number(row.tierNotPricedTokens),
    },
    costNano: Number(row.costNano),
    recordedNano: recordedNano === null ? null : Number(recordedNano),
    ...{ parentId, parentRelation: parentId && parentRelation, projectId, filesChanged, linesAdded, linesRemoved },
    ...{ machine: row.machine, trivial: row.trivial, activeSeconds: row.activeSeconds },
    ...{ turnCount: row.turnCount, callCount: row.callCount, errorCount: row.errorCount },
    ...{ customTitle: row.customTitle, note: row.note, tags: row.tags },
    starredAt: row.starredAt?.toISOString() ?? null,
    archivedAt: row.archivedAt?.toISOString() ?? null,
  };
}

const cursorShape = z.tuple([utcInstant, z.uuid()]);

const makeCursor = ({ latestAt, id }: ListedRow) => encodeCursor([latestAt.toISOString(), id]);

function readCursor(cursor: string): ListPlace {
  const [activityAt, id] = decodeCursor(cursorShape, cursor);
  return { activityAt, id };
}

export type ListedTrace = Trace & { latestAt: string; spark: string | null };

type PageRequest = {
  cursor?: string | undefined;
  limit: number;
  order?: Order | undefined;
  sort?: Sort | undefined;
  countUpTo?: number;
};

type ListedPage = { traces: ListedTrace[]; nextCursor: string | null; ranking?: Omit<Ranking, "traces"> };

export async function listPage(userId: string, selection: Selection, page: PageRequest): Promise<ListedPage> {
  if (page.order === "best" && selection.q !== undefined && isRanked(selection.q))
    return bestPage(userId, selection, page);
  if (page.sort && page.sort !== "activity" && selection.q === undefined)
    return sortedPage(userId, selection, { ...page, sort: page.sort });
  const after = page.cursor ? readCursor(page.cursor) : undefined;
  const wanted = { after, limit: page.limit + 1 };
  const [plain, rest] = await resolvePage(userId, selection, wanted);
  const { rows, isCut } = await readBoundedRows(userId, plain, { ...rest, maxBytes: limits.traces.listPageBytes });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const hasMore = isCut || rows.length > page.limit;
  return { traces: shown.map(presentListed), nextCursor: hasMore && last ? makeCursor(last) : null };
}

const sortedCursor = z.tuple([z.enum(sorts), z.string().max(40), z.uuid()]);

async function sortedPage(
  userId: string,
  { q: _, ...selection }: Selection,
  { cursor, limit, sort }: { cursor?: string | undefined; limit: number; sort: Exclude<Sort, "activity"> },
): Promise<{ traces: ListedTrace[]; nextCursor: string | null }> {
  const [of, key = "", id = ""] = cursor ? decodeCursor(sortedCursor, cursor) : [sort];
  if (of !== sort || (cursor && !isSortKey(sort, key))) throw makeCursorError();
  const after = cursor ? { key, id } : undefined;
  const bounds = { after, limit: limit + 1, maxBytes: limits.traces.listPageBytes };
  const { rows, isCut } = await readSorted(userId, selection, sort, bounds);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = isCut || rows.length > limit;
  return {
    traces: shown.map(({ sortKey: __, ...row }) => presentListed(row)),
    nextCursor: hasMore && last ? encodeCursor([sort, last.sortKey, last.id]) : null,
  };
}

const presentListed = ({ latestAt, ...row }: ListedRow): ListedTrace => ({
  ...presentTrace(row),
  latestAt: latestAt.toISOString(),
  spark: row.spark,
});

const bestCursor = z.tuple([z.literal("best"), z.int().min(0).max(10_000)]);

async function bestPage(userId: string, { q, ...plain }: Selection, page: PageRequest): Promise<ListedPage> {
  const offset = page.cursor ? decodeCursor(bestCursor, page.cursor)[1] : 0;
  const read = (ids: string[]) => {
    const bounds = { limit: ids.length, maxBytes: limits.traces.listPageBytes };
    return readBoundedRows(userId, { ...plain, ids }, bounds);
  };
  // Texts only reorder the first twenty hits, so the first page's rows can be read meanwhile.
  let early: ReturnType<typeof read> | undefined;
  const onFirst = (ids: string[], areAll: boolean) => {
    if (offset > 0 || !(ids.length === page.limit || (areAll && ids.length < page.limit))) return;
    early = read(ids);
    early.catch(() => {});
  };
  const { traces: ranked, ...ranking } = await rankTraces(
    userId,
    { q, ...plain },
    { ...page, wanted: offset + page.limit, onFirst },
  );
  let ids = ranked.slice(offset, offset + page.limit).map(({ id }) => id);
  let { rows, isCut } = await (early ?? read(ids));
  while (isCut && ids.length > 1) {
    ids = ids.slice(0, Math.ceil(ids.length / 2));
    ({ rows, isCut } = await read(ids));
  }
  const byId = new Map(rows.map((row) => [row.id, presentListed(row)]));
  const end = offset + ids.length;
  const nextCursor = end < ranked.length ? encodeCursor(["best", end]) : null;
  return { traces: ids.flatMap((id) => byId.get(id) ?? []), nextCursor, ranking };
}

const getMatches = (trace: Trace, ranking: ListedPage["ranking"]) => {
  const found = ranking?.found.get(trace.id);
  return (
    found && { matches: found.excerpts.map(({ position, role, speaker, text }) => ({ position, role, speaker, text })) }
  );
};

/**
 * Newest activity first, unless a search asks for `best`.
 * @throws SpoorError `invalid_request` for an invalid cursor
 */
export async function listTraces(
  userId: string,
  selection: Selection,
  page: PageRequest,
): Promise<{
  traces: (Trace & { matches?: SearchMatch[] })[];
  nextCursor: string | null;
  partial?: true;
  corrected?: string;
}> {
  const { traces, nextCursor, ranking } = await listPage(userId, selection, page);
  return {
    traces: traces.map(({ latestAt: _, spark: __, ...trace }) => ({ ...trace, ...getMatches(trace, ranking) })),
    nextCursor,
    ...(ranking?.isPartial && { partial: true as const }),
    ...(ranking?.corrected !== undefined && { corrected: ranking.corrected }),
  };
}

type TracePage = { after?: ListPlace | undefined; limit: number; patience?: Patience };

async function resolvePage(
  userId: string,
  { q, ...plain }: Selection,
  page: TracePage,
): Promise<[PlainSelection, { after?: ListPlace | undefined; limit: number }]> {
  if (q === undefined) return [plain, page];
  const ids = await searchTraces(userId, { q, ...plain }, page); // only those after the place
  return [{ ...plain, ids }, { limit: page.limit }];
}

export async function readTraceRows(userId: string, selection: Selection, page: TracePage): Promise<TraceRow[]> {
  return readRows(userId, ...(await resolvePage(userId, selection, page)));
}

/** @throws SpoorError `not_found` for a deleted trace and for another user's */
export async function getTrace(userId: string, traceId: string): Promise<Trace> {
  return presentTrace(await getTraceRow(userId, traceId));
}

export async function getTraceRow(userId: string, traceId: string): Promise<TraceRow> {
  const row = await prisma().trace.findUnique({
    where: { userId_id: { userId, id: traceId }, deletedAt: null },
    select: traceFields,
  });
  if (!row) throw notFound();
  return row;
}

/** False for a deleted trace, whose messages may not be purged yet. */
export const hasTrace = async (userId: string, traceId: string): Promise<boolean> =>
  (await prisma().trace.count({ where: { userId, id: traceId, deletedAt: null } })) > 0;

export async function readOrigin(
  userId: string,
  traceId: string,
): Promise<{ place: SessionFolders; names: HiddenNames }> {
  const where = { userId_id: { userId, id: traceId } };
  const trace = await prisma().trace.findUnique({ where, select: { metadata: true, machine: true, project: true } });
  const place = readPlace((trace?.metadata ?? null) as Record<string, unknown> | null);
  return { place, names: readHiddenNames(trace ?? { machine: null }) };
}

export type { Neighbour };

const maxFound = 2000;

/** Either may be missing. */
export async function neighbours(
  userId: string,
  traceId: string,
  filter: Selection,
): Promise<{ newer: Neighbour | undefined; older: Neighbour | undefined }> {
  const selection = await resolveSearch(userId, filter, { limit: maxFound });
  const [newer, older] = await Promise.all([
    readNeighbour(userId, traceId, selection, "newer"),
    readNeighbour(userId, traceId, selection, "older"),
  ]);
  return { newer, older };
}
