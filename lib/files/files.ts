import "server-only";
import { z } from "zod";
import { notFound } from "#lib/core/errors";
import { decodeCursor, encodeCursor, exactText, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import type { FileAction, Touched } from "#lib/files/schema";
import { type FileRow, readTouching, readTraceFiles } from "#lib/files/sql";
import { fileNamed } from "#lib/search/query";
import { type Selection, tellUpdated } from "#lib/search/sql/selection";
import { maxShown, type Outline } from "#lib/transcript/outline";

type FilePage = { action: FileAction; cursor?: string | undefined; limit: number };

const position = z.int().min(0).max(limits.message.integer);
const fileCursor = z.tuple([z.boolean(), position, exactText(1, 1024)]);
const touchCursor = z.tuple([utcInstant, z.uuid(), exactText(1, 1024)]);

/** @throws SpoorError `not_found` also for another user's */
async function isDue(userId: string, traceId: string): Promise<boolean> {
  const where = { userId_id: { userId, id: traceId }, deletedAt: null };
  const trace = await prisma().trace.findUnique({ where, select: { ledgerDue: true } });
  if (!trace) throw notFound();
  return trace.ledgerDue;
}

/**
 * @returns `pending` until the last upload is counted, `cut` if there are too many files
 * @throws SpoorError `not_found`, `invalid_request` for an unknown cursor, and as `heavyRead`
 */
export async function listTraceFiles(userId: string, traceId: string, { action, cursor, limit }: FilePage) {
  const pending = await isDue(userId, traceId);
  const after = cursor === undefined ? undefined : decodeCursor(fileCursor, cursor);
  const page = { action, after, limit: limit + 1, maxPlaces: 0 };
  const rows = await heavyRead(userId, (tx) => readTraceFiles(tx, userId, traceId, page));
  const files = rows.slice(0, limit).map(toFile);
  const last = files.at(-1);
  const more = rows.length > limit && last;
  const next = more ? encodeCursor([last.edits === 0, last.firstPosition, last.path]) : null;
  return { files, pending, cut: isCut(rows), nextCursor: next };
}

const isCut = ([first]: { rows: string }[]) => Number(first?.rows ?? 0) >= limits.traces.fileRows;

const toFile = ({ path, reads, edits, added, removed, firstPosition, lastPosition }: FileRow): FileRow => ({
  ...{ path, reads, edits, added, removed, firstPosition, lastPosition },
});

export async function readFileSums(
  userId: string,
  traceId: string,
): Promise<Pick<Outline, "files" | "fileCount"> | undefined> {
  if (await isDue(userId, traceId)) return undefined;
  const page = { action: "any", after: undefined, limit: maxShown.files, maxPlaces: maxShown.places } as const;
  const rows = await heavyRead(userId, (tx) => readTraceFiles(tx, userId, traceId, page));
  const files = rows.map((row) => ({
    ...toFile(row),
    places: row.places.map(([at, added, removed]) => ({ position: at, added, removed })),
  }));
  return { files, fileCount: Number(rows[0]?.files ?? 0) };
}

/** Includes edits that count in the session they were copied from. */
export async function sumEdits(userId: string, traceId: string): Promise<{ added: number; removed: number }> {
  const { _sum } = await prisma().traceFile.aggregate({
    where: { userId, traceId },
    _sum: { added: true, removed: true },
  });
  return { added: _sum.added ?? 0, removed: _sum.removed ?? 0 };
}

export async function listTouching(
  userId: string,
  {
    path,
    from,
    to,
    onlyProjectId,
    action,
    cursor,
    limit,
  }: FilePage & Pick<Selection, "from" | "to" | "onlyProjectId"> & { path: string },
): Promise<{ files: Touched[]; nextCursor: string | null }> {
  const place = cursor === undefined ? undefined : decodeCursor(touchCursor, cursor);
  const after = place && { activityAt: place[0], id: place[1], path: place[2] };
  const file = fileNamed(path);
  if (!file) return { files: [], nextCursor: null };
  const page = { action, after, limit: limit + 1 };
  const rows = await heavyRead(userId, (tx) => readTouching(tx, userId, file, { from, to, onlyProjectId }, page));
  const files = rows
    .slice(0, limit)
    .map(({ traceId, source, title, project, activityAt, storedAt, dated, ...row }) => ({
      ...{ traceId, source, title, project, updatedAt: tellUpdated({ activityAt, storedAt, dated }), dated },
      ...toFile(row),
    }));
  const last = rows[limit - 1];
  const more = rows.length > limit && last;
  return { files, nextCursor: more ? encodeCursor([last.activityAt.toISOString(), last.traceId, last.path]) : null };
}
