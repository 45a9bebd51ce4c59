import "server-only";
import { readEarlier } from "#lib/messages/read-messages";
import type { Trace } from "#lib/traces/queries";
import type { ReaderMessage } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";

/** Agents may think for minutes, so a session counts as live this long after its last activity. */
const liveMinutes = 10;

export function isLive(updatedAt: string, now = Date.now()): boolean {
  const age = now - Date.parse(updatedAt);
  return age < liveMinutes * 60_000 && age > -liveMinutes * 60_000;
}

const ended = new Set(["end_turn", "stop", "stop_sequence", "endturn", "completed", "complete", "finished"]);

export function findWaitingState(messages: ReaderMessage[]): "waiting" | "asking" | undefined {
  const last = makeRows(messages).findLast(({ kind }) => kind !== "notice" && kind !== "thinking");
  const part = last?.parts.at(-1);
  if (part?.kind === "question" && part.status === "pending") return "asking";
  if (last?.kind !== "assistant") return undefined;
  // Only the first message of an answer has its reason.
  for (const { role, metadata } of messages.toReversed()) {
    if (role === "user" || role === "tool") return undefined;
    const reason = metadata?.stopReason;
    if (typeof reason === "string") return ended.has(reason.toLowerCase()) ? "waiting" : undefined;
  }
  return undefined;
}

export type Standing = { live: boolean; waiting: "waiting" | "asking" | null };

const afterAll = 2_147_483_647;
const looked = { limit: 12, maxBytes: 256 * 1024, maxMessageBytes: 64 * 1024 };

export async function readStanding(
  userId: string,
  { id, updatedAt, dated }: Pick<Trace, "id" | "updatedAt" | "dated">,
): Promise<Standing> {
  if (!dated || !isLive(updatedAt)) return { live: false, waiting: null };
  const { messages } = await readEarlier(userId, id, afterAll, looked);
  return { live: true, waiting: findWaitingState(messages) ?? null };
}

type ListedActivity = { id: string; updatedAt: string; latestAt: string; dated: boolean };

/** Further live sessions are only marked as live. */
const maxRead = 8;

export async function readStandings(
  userId: string,
  traces: ListedActivity[],
): Promise<Map<string, Standing["waiting"]>> {
  const live = traces.filter(({ latestAt, dated }) => dated && isLive(latestAt));
  const read = await Promise.all(live.slice(0, maxRead).map((trace) => readStanding(userId, trace)));
  return new Map(live.map(({ id }, place) => [id, read[place]?.waiting ?? null]));
}
