import "server-only";
import { isLive, findWaitingState } from "#lib/reader/live";
import { readEarlier } from "#lib/traces/messages";
import type { Trace } from "#lib/traces/queries";

export type Standing = { live: boolean; waiting: "waiting" | "asking" | null };

const afterAll = 2_147_483_647;
/** Enough for an answer and what it answers. */
const looked = { limit: 12, maxBytes: 256 * 1024, maxMessageBytes: 64 * 1024 };

export async function readStanding(
  userId: string,
  { id, updatedAt, dated }: Pick<Trace, "id" | "updatedAt" | "dated">,
): Promise<Standing> {
  if (!dated || !isLive(updatedAt)) return { live: false, waiting: null };
  const { messages } = await readEarlier(userId, id, afterAll, looked);
  return { live: true, waiting: findWaitingState(messages) ?? null };
}
