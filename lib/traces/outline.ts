import "server-only";
import { setImmediate } from "node:timers/promises";
import { beginRead, hasTooMany } from "#lib/db/heavy";
import { makeOutliner, type Outline } from "#lib/reader/outline";
import { readFileSums } from "#lib/traces/files";
import { readMessagesInTurn } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

/** What a larger message did is left out: understanding it takes too long at a stretch. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };
/** How long an outline keeps the process from answering others, in milliseconds. */
const maxBusyMs = 10;

/** Whether so many outlines of a user wait that another one would be refused. */
export const hasTooManyOutlines = (userId: string): boolean => hasTooMany(userId, "outline");

/**
 * The outline of a whole trace. Its files are those of the ledger, and until that has counted them, of the messages.
 *
 * @throws SpoorError `overloaded` as `beginRead`, and an error that `isOverload` knows for a statement that takes too long
 */
export async function readOutline(userId: string, traceId: string): Promise<Outline> {
  const end = await beginRead(userId, "outline");
  try {
    return await outlineOf(userId, traceId);
  } finally {
    end();
  }
}

async function outlineOf(userId: string, traceId: string): Promise<Outline> {
  const [trace, files] = await Promise.all([getTrace(userId, traceId), readFileSums(userId, traceId)]);
  const outliner = makeOutliner(trace);
  let since = performance.now();
  for (let after: number | null = -1; after !== null; ) {
    const read: Awaited<ReturnType<typeof readMessagesInTurn>> = await readMessagesInTurn(userId, traceId, after, page);
    for (const message of read.messages) {
      outliner.add(message);
      if (performance.now() - since < maxBusyMs) continue;
      await setImmediate();
      since = performance.now();
    }
    after = read.nextAfter;
  }
  return { ...outliner.result(), ...files };
}
