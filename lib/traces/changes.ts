import "server-only";
import { beginRead } from "#lib/db/heavy";
import { type Combined, makeCombiner } from "#lib/reader/files/combined";
import { wholeRange } from "#lib/traces/for-others";
import { visitMessages } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

/** Larger messages are skipped; parsing them would block other requests. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };

/** @throws SpoorError `overloaded` as `beginRead`, and an error that `isOverload` recognizes for a slow statement */
export async function readChanges(userId: string, traceId: string): Promise<Combined> {
  const end = await beginRead(userId, "outline");
  try {
    const combiner = makeCombiner(await getTrace(userId, traceId));
    await visitMessages(userId, traceId, wholeRange, page, (message) => combiner.add(message));
    return combiner.result();
  } finally {
    end();
  }
}
