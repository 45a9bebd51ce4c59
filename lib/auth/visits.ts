import "server-only";
import { prisma } from "#lib/db/client";

/** After this pause, what was new at the visit before no longer is. */
const visitMs = 30 * 60_000;

/** Both are undefined before the first visit. */
export type Visit = { seenAt: Date | undefined; since: Date | undefined };

/** Changes nothing; `noteVisit` does, after the page was seen. */
export async function readVisit(userId: string, now: Date): Promise<Visit> {
  const row = await prisma().user.findUnique({ where: { id: userId }, select: { seenAt: true, newsSince: true } });
  const { seenAt, newsSince } = row ?? {};
  if (!seenAt) return { seenAt: undefined, since: undefined };
  const isNew = now.getTime() - seenAt.getTime() > visitMs;
  return { seenAt, since: (isNew ? seenAt : newsSince) ?? undefined };
}

/** Of several calls at once, one begins the visit. */
export async function noteVisit(userId: string, now: Date): Promise<void> {
  const { seenAt, since } = await readVisit(userId, now);
  await prisma().user.updateMany({
    where: { id: userId, seenAt: seenAt ?? null },
    data: { seenAt: now, newsSince: since ?? null },
  });
}
