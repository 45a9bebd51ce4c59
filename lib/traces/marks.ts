// What a person decides about a trace: its name, a star, tags, a note, whether it is put away. Uploads never write these columns,
// so a re-send keeps them; a deletion clears them (deletion.ts).
import "server-only";
import type { z } from "zod";
import { prisma } from "#lib/db/client";
import { notFound } from "#lib/errors";
import type { Prisma } from "#lib/generated/prisma/client";
import { limits } from "#lib/limits";
import type { marksShape } from "#lib/traces/marks-schema";
import { addTagTo, lockForMarks } from "#lib/traces/sql/marks";

/** Each left out stays as it is; null or an empty text or list removes it. */
export type TraceMarks = z.output<typeof marksShape>;

/** @throws SpoorError `not_found` where the trace is deleted, and for another user's as well */
export async function setMarks(userId: string, traceId: string, marks: TraceMarks): Promise<void> {
  if ((await markAll(userId, [traceId], marks)) === 0) throw notFound();
}

/** Marks some of a user's traces alike. @returns how many there are of them */
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
    ...(isText && { searchPending: true }), // these are searched
  };
}

/** Adds a tag to some of a user's traces, but to those that have as many as one may have. */
export async function addTag(userId: string, ids: string[], tag: string): Promise<void> {
  await addTagTo(userId, ids, tag, limits.traces.tags);
}
