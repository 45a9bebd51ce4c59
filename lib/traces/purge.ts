import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, prisma } from "#lib/db/client";
import { purgePictures } from "#lib/messages/pictures/sql";
import { purgeParts } from "#lib/originals/deletion";
import { lockUnpurged } from "#lib/traces/sql/deletion";

export async function purgeMessages(tx: Db, userId: string, traceIds: string[]): Promise<void> {
  await tx.message.deleteMany({ where: { userId, traceId: { in: traceIds } } });
  await tx.trace.updateMany({ where: { userId, id: { in: traceIds } }, data: { messageCount: 0 } });
}

/** Half a second of work. */
const batch = { messages: 20_000, traces: 500, users: 20 };
const pauseMs = 20;

/**
 * May be interrupted or run concurrently.
 * @returns the number of purged traces
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
  await purgeParts((deadline - performance.now()) / 1000);
  return purged;
}

/**
 * Skips traces that another process has locked.
 * @returns the number of purged traces
 */
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

/** At least one trace. */
function takeBatch<T extends { messageCount: number }>(traces: T[]): T[] {
  let messages = 0;
  return traces.filter(({ messageCount }, index) => {
    messages += messageCount;
    return index === 0 || messages <= batch.messages;
  });
}
