import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, prisma } from "#lib/db/client";
import { purgePictures } from "#lib/pictures/purge";
import { lockUnpurged } from "#lib/traces/sql/deletion";

/** Removes the messages of deleted traces; one of them may have 50,000. */
export async function purgeMessages(tx: Db, userId: string, traceIds: string[]): Promise<void> {
  await tx.message.deleteMany({ where: { userId, traceId: { in: traceIds } } });
  await tx.trace.updateMany({ where: { userId, id: { in: traceIds } }, data: { messageCount: 0 } });
}

/** What one transaction removes, half a second's work, and how many users are looked at together. */
const batch = { messages: 20_000, traces: 500, users: 20 };
/** The pause between two transactions, for others. */
const pauseMs = 20;

/**
 * Removes the messages of deleted traces, and pictures that nothing refers to, a bounded number in each transaction. The rows
 * record what is left to do, so that an interrupted purge is resumed; several processes may purge at once.
 *
 * @param seconds after which to stop, with the rest left for the next call.
 * @returns how many traces were purged.
 */
export async function purgeDeleted(seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let purged = 0;
  while (performance.now() < deadline) {
    const count = await purgeBatch();
    if (count === 0) break;
    purged += count;
    await sleep(pauseMs);
  }
  await purgePictures((deadline - performance.now()) / 1000);
  return purged;
}

/** One transaction for each of some users. @returns how many traces were purged; none that another process holds */
async function purgeBatch(): Promise<number> {
  const users = await prisma().trace.groupBy({
    by: ["userId"],
    where: { deletedAt: { not: null }, messageCount: { gt: 0 } },
    orderBy: { userId: "asc" },
    take: batch.users,
  });
  let purged = 0;
  for (const { userId } of users) {
    purged += await prisma().$transaction(async (tx) => {
      const traces = takeBatch(await lockUnpurged(tx, userId, batch.traces));
      const ids = traces.map(({ id }) => id);
      if (ids.length > 0) await purgeMessages(tx, userId, ids);
      return ids.length;
    });
  }
  return purged;
}

/** The first traces that have no more messages than a transaction removes, and at least one. */
function takeBatch<T extends { messageCount: number }>(traces: T[]): T[] {
  let messages = 0;
  return traces.filter(({ messageCount }, index) => {
    messages += messageCount;
    return index === 0 || messages <= batch.messages;
  });
}
