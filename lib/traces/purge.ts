import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, prisma } from "#lib/db/client";

/** Removes the messages of traces that are deleted; one of them may have 50,000. */
export async function purgeTraces(tx: Db, userId: string, traceIds: string[]): Promise<void> {
  await tx.$executeRaw`delete from message where user_id = ${userId}::uuid and trace_id = any(${traceIds}::uuid[])`;
  await tx.$executeRaw`update trace set message_count = 0 where user_id = ${userId}::uuid and id = any(${traceIds}::uuid[])`;
}

type Doomed = { userId: string; id: string; messages: number };

/** What one transaction removes: half a second's work. */
const messagesAtATime = 20_000;
const tracesAtATime = 500;
/** Between two of them others get their turn. */
const pauseMs = 20;

/**
 * Removes the messages of deleted traces, a bounded number in each transaction. What is left to do stands in the rows
 * themselves, so that it goes on where it was broken off, whoever calls it next; several may do so at once.
 *
 * @param seconds how long to go on; what is left then is for the next call.
 * @returns how many traces were emptied.
 */
export async function purgeDeleted(seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let purged = 0;
  while (performance.now() < deadline) {
    const emptied = await purgeSome();
    if (emptied === 0) break;
    purged += emptied;
    await sleep(pauseMs);
  }
  return purged;
}

async function purgeSome(): Promise<number> {
  // Looked at without a transaction first: that there is nothing to do is what it finds nearly always.
  if ((await findDoomed(prisma(), "")).length === 0) return 0;
  return prisma().$transaction(async (tx) => {
    const doomed = firstOf(await findDoomed(tx, "for update skip locked"));
    for (const [userId, traces] of Map.groupBy(doomed, (trace) => trace.userId)) {
      const ids = traces.map(({ id }) => id);
      await purgeTraces(tx, userId, ids);
    }
    return doomed.length;
  });
}

async function findDoomed(from: Db, locking: string): Promise<Doomed[]> {
  return from.$queryRawUnsafe<Doomed[]>(
    `select user_id as "userId", id, message_count as messages from trace
     where deleted_at is not null and message_count > 0 limit ${tracesAtATime} ${locking}`,
  );
}

/** The first traces, as many as have no more messages than a transaction removes, and one in any case. */
function firstOf(doomed: Doomed[]): Doomed[] {
  let messages = 0;
  return doomed.filter((trace, index) => {
    messages += trace.messages;
    return index === 0 || messages <= messagesAtATime;
  });
}
