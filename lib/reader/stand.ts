import type { ReaderMessage } from "#lib/reader/message";
import { makeRows } from "#lib/reader/rows";

/** Why a model stopped where it has said all that it wanted to, in the words of the providers and agents. */
const ended = new Set(["end_turn", "stop", "stop_sequence", "endturn", "completed", "complete", "finished"]);

/**
 * What an agent is waiting for after a session's last messages: for the person, whose turn it is, or for an answer to its
 * question. Undefined where it works on, or where its format does not tell.
 */
export function findWaitingState(messages: ReaderMessage[]): "waiting" | "asking" | undefined {
  const last = makeRows(messages).findLast(({ kind }) => kind !== "notice" && kind !== "thinking");
  const part = last?.parts.at(-1);
  if (part?.kind === "question" && part.status === "pending") return "asking";
  if (last?.kind !== "assistant") return undefined;
  // Of the messages of one answer the first has its reason.
  for (const { role, metadata } of messages.toReversed()) {
    if (role === "user" || role === "tool") return undefined;
    const reason = metadata?.stopReason;
    if (typeof reason === "string") return ended.has(reason.toLowerCase()) ? "waiting" : undefined;
  }
  return undefined;
}
