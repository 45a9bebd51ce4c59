// Uploads never write these columns, so sending a trace again keeps them; a deletion clears them.
import "server-only";
import type { z } from "zod";
import { notFound } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import type { marksShape } from "#lib/traces/schema";
import { addTagTo, lockForMarks } from "#lib/traces/sql/session";

/** Missing fields stay unchanged; null and empty values remove. */
type TraceMarks = z.output<typeof marksShape>;

/** @throws SpoorError `not_found` for a deleted trace and for another user's */
export async function setMarks(userId: string, traceId: string, marks: TraceMarks): Promise<void> {
  if ((await markAll(userId, [traceId], marks)) === 0) throw notFound();
}

export function markAll(userId: string, ids: string[], marks: TraceMarks): Promise<number> {
  const data = toUpdate(marks);
  return prisma().$transaction(async (tx) => {
    if (ids.length > 1) await lockForMarks(tx, userId, ids);
    const { count } = await tx.trace.updateMany({ where: { userId, id: { in: ids }, deletedAt: null }, data });
    return count;
  });
}

function toUpdate({ title, starred, archived, note, tags }: TraceMarks): Prisma.TraceUpdateManyMutationInput {
  const isText = title !== undefined || note !== undefined || tags !== undefined;
  return {
    ...(title !== undefined && { customTitle: title || null }),
    ...(starred !== undefined && { starredAt: starred ? new Date() : null }),
    ...(archived !== undefined && { archivedAt: archived ? new Date() : null }),
    ...(note !== undefined && { note: note || null }),
    ...(tags !== undefined && { tags }),
    ...(isText && { searchPending: true }),
  };
}

/** Skips traces with the maximum number of tags. */
export async function addTag(userId: string, ids: string[], tag: string): Promise<void> {
  await addTagTo(userId, ids, tag, limits.traces.tags);
}
