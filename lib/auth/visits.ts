import "server-only";
import { prisma } from "#lib/db/client";

/** A look at the page after so long is a new visit: what was new at the one before no longer is. */
const visitMs = 30 * 60_000;

/** When a person last saw what is new, and since when that was shown as new; both undefined before the first time. */
export type Visit = { seenAt: Date | undefined; since: Date | undefined };

/** What a look at `now` shows as new. It changes nothing: `noteVisit` does, once the page was seen. */
export async function readVisit(userId: string, now: Date): Promise<Visit> {
  const row = await prisma().user.findUnique({ where: { id: userId }, select: { seenAt: true, newsSince: true } });
  const { seenAt, newsSince } = row ?? {};
  if (!seenAt) return { seenAt: undefined, since: undefined };
  const isNew = now.getTime() - seenAt.getTime() > visitMs;
  return { seenAt, since: (isNew ? seenAt : newsSince) ?? undefined };
}

/** Notes that a person has seen what is new. Of several at once, one begins the visit. */
export async function noteVisit(userId: string, now: Date): Promise<void> {
  const { seenAt, since } = await readVisit(userId, now);
  await prisma().user.updateMany({
    where: { id: userId, seenAt: seenAt ?? null },
    data: { seenAt: now, newsSince: since ?? null },
  });
}
