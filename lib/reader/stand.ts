import type { ReaderMessage } from "#lib/reader/message";
import { makeRows } from "#lib/reader/rows";

/** Reasons for stopping with nothing left to say, as providers and agents write them. */
const ended = new Set(["end_turn", "stop", "stop_sequence", "endturn", "completed", "complete", "finished"]);

/** Undefined while the agent works, or if its format does not tell. */
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
