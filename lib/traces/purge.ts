import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, prisma } from "#lib/db/client";
import { lockUnpurged } from "#lib/traces/sql/deletion";

/** Removes the messages of deleted traces; one of them may have 50,000. */
export async function purgeMessages(tx: Db, userId: string, traceIds: string[]): Promise<void> {
  await tx.message.deleteMany({ where: { userId, traceId: { in: traceIds } } });
  await tx.trace.updateMany({ where: { userId, id: { in: traceIds } }, data: { messageCount: 0 } });
}

/** What one transaction removes: half a second's work. */
const batch = { messages: 20_000, traces: 500 };
/** The pause between two transactions, for others. */
const pauseMs = 20;

/**
 * Removes the messages of deleted traces, a bounded number in each transaction. The rows record what is left to do, so that
 * an interrupted purge is resumed; several processes may purge at once.
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
  return purged;
}

async function purgeBatch(): Promise<number> {
  const isUnpurged = { deletedAt: { not: null }, messageCount: { gt: 0 } };
  // Nearly always there is none, which needs no transaction.
  if (!(await prisma().trace.findFirst({ where: isUnpurged, select: { id: true } }))) return 0;
  return prisma().$transaction(async (tx) => {
    const traces = firstOf(await lockUnpurged(tx, batch.traces));
    for (const [userId, ofUser] of Map.groupBy(traces, (trace) => trace.userId)) {
      const ids = ofUser.map(({ id }) => id);
      await purgeMessages(tx, userId, ids);
    }
    return traces.length;
  });
}

/** The first traces that have no more messages than a transaction removes, and at least one. */
function firstOf<T extends { messageCount: number }>(traces: T[]): T[] {
  let messages = 0;
  return traces.filter(({ messageCount }, index) => {
    messages += messageCount;
    return index === 0 || messages <= batch.messages;
  });
}
