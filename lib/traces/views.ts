import "server-only";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";

export type View = { name: string; query: string };

export const readViews = (userId: string): Promise<View[]> =>
  prisma().savedView.findMany({
    where: { userId },
    orderBy: { name: "asc" },
    take: limits.traces.views,
    select: { name: true, query: true },
  });

/**
 * Replaces a view of the same name.
 * @throws SpoorError `invalid_request` if there are too many
 */
export async function saveView(userId: string, { name, query }: View): Promise<void> {
  const isThere = await prisma().savedView.count({ where: { userId, name } });
  if (!isThere && (await prisma().savedView.count({ where: { userId } })) >= limits.traces.views)
    throw new SpoorError("invalid_request", `You can save at most ${limits.traces.views} views. Remove one first.`);
  await prisma().savedView.upsert({
    where: { userId_name: { userId, name } },
    create: { userId, name, query },
    update: { query },
  });
}

export async function removeView(userId: string, name: string): Promise<void> {
  await prisma().savedView.deleteMany({ where: { userId, name } });
}
