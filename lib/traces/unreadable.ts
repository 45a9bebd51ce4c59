import "server-only";
import { log } from "#lib/log";
import { getTrace } from "#lib/traces/queries";
import { countMessages } from "#lib/traces/stored";

/** How many messages of a trace are counted in its row and can't be read: what is shown must not pass for the whole. */
export async function countUnreadable(userId: string, traceId: string): Promise<number> {
  const { messageCount } = await getTrace(userId, traceId);
  if ((await countMessages(userId, traceId, { after: -1 })) >= messageCount) return 0;
  // Again, and the trace last: an upload may have changed it between the two.
  const read = await countMessages(userId, traceId, { after: -1 });
  const missing = Math.max(0, (await getTrace(userId, traceId)).messageCount - read);
  if (missing > 0) log.error({ trace: traceId, missing }, "messages of a session can't be read");
  return missing;
}
