import { isFields } from "#common/evidence/text";
import { isEcho } from "#lib/search/index/echo";
import { splitPieces } from "#lib/transcript/kind";
import { readOutcome } from "#lib/transcript/outcome";
import { findToolKind } from "#lib/transcript/vocabulary";

const speakers = ["person", "assistant", "thinking", "tool", "notice"] as const;
export type Speaker = (typeof speakers)[number];

/** `isEcho` messages are not evidence (echo.ts). */
export type Described = { speaker: Speaker; facts: string[]; isEcho: boolean };

const maxCharacters = 4000;

export type Spoken = { role: string | null; content: string; metadata: unknown };

/** @param message at least the beginning of its content */
export function describe({ role, content, metadata }: Spoken): Described {
  const known = isFields(metadata) ? metadata : null;
  const beginning = { role, content: content.slice(0, maxCharacters), metadata: known };
  const pieces = splitPieces({ ...beginning, position: 0, tokenCount: null, createdAt: null });
  const facts = new Set<string>();
  let speaker: Speaker | undefined;
  for (const piece of pieces) {
    speaker = louder(speaker, getSpeaker(piece));
    if (piece.type === "call") {
      facts.add(`tool:${piece.call.name}`);
      facts.add(`tool:${findToolKind(piece.call.name, piece.call.type)}`);
    }
    const result = piece.type === "call" || piece.type === "result" ? piece.result : undefined;
    if (result && readOutcome(result).status === "failed") facts.add("has:error");
  }
  return { speaker: speaker ?? "notice", facts: [...facts], isEcho: isEcho(pieces) };
}

function getSpeaker(piece: ReturnType<typeof splitPieces>[number]): Speaker {
  if (piece.type !== "text") return "tool";
  if (piece.kind === "user") return "person";
  return piece.kind === "command" ? "notice" : piece.kind;
}

function louder(one: Speaker | undefined, other: Speaker): Speaker {
  return one !== undefined && speakers.indexOf(one) <= speakers.indexOf(other) ? one : other;
}
