import "server-only";
import { setImmediate } from "node:timers/promises";
import { beginRead } from "#lib/db/heavy";
import { type Combined, makeCombiner } from "#lib/reader/files/combined";
import { readMessagesInTurn } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

/** What a larger message did is left out: understanding it takes too long at a stretch. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };
/** How long the reading keeps the process from answering others, in milliseconds. */
const maxBusyMs = 10;

/**
 * All that a trace's calls did to files, combined by file.
 *
 * @throws SpoorError `overloaded` as `beginRead`, and an error that `isOverload` knows for a statement that takes too long
 */
export async function readChanges(userId: string, traceId: string): Promise<Combined> {
  const end = await beginRead(userId, "outline");
  try {
    const combiner = makeCombiner(await getTrace(userId, traceId));
    let since = performance.now();
    for (let after: number | null = -1; after !== null; ) {
      const read: Awaited<ReturnType<typeof readMessagesInTurn>> = await readMessagesInTurn(
        userId,
        traceId,
        after,
        page,
      );
      for (const message of read.messages) {
        combiner.add(message);
        if (performance.now() - since < maxBusyMs) continue;
        await setImmediate();
        since = performance.now();
      }
      after = read.nextAfter;
    }
    return combiner.result();
  } finally {
    end();
  }
}
