// A session's messages as the reader shows them: what the person and the agent said, calls and results, without notices.
import { splitPieces } from "#lib/transcript/kind";
import { readOutcome } from "#lib/transcript/outcome";
import type { Session } from "./archive.ts";
import { endName, type Item } from "./expected.ts";

export type Shown = Item & { role: string | null; createdAt: string | null; callId?: string };

export function listShown(session: Session): Shown[] {
  return session.messages.flatMap((message) => {
    if (message.metadata?.replayed) return [];
    const { role, createdAt } = message;
    return splitPieces(message).flatMap((piece): Shown[] => {
      const base = { role, createdAt };
      if (piece.type === "text") {
        const { kind, text } = piece;
        return kind === "notice" || kind === "command" ? [] : [{ ...base, kind, text }];
      }
      if (piece.type === "result") return [{ ...base, ...readResult(piece.result), callId: piece.result.callId }];
      if (piece.type !== "call") return [];
      const { name, input, callId } = piece.call;
      if (name === endName) return [{ ...base, kind: "assistant", text: String(input.result) }];
      const call: Shown = { ...base, kind: "call", text: "", name, input, callId };
      return piece.result ? [call, { ...base, role: "tool", ...readResult(piece.result), callId }] : [call];
    });
  });
}

function readResult(result: Parameters<typeof readOutcome>[0]): Item {
  const { status, output } = readOutcome(result);
  return { kind: "result", text: output, failed: status === "failed" };
}
