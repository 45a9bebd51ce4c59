import type { Piece } from "#lib/reader/call";
import { readMarkers, withoutRule } from "#lib/reader/markers";
import type { ReaderMessage } from "#lib/reader/message";
import { readMetadata } from "#lib/reader/metadata";
import { firstLine } from "#lib/reader/text";

/**
 * What a message holds, decided here and nowhere else: by its metadata, else by marks in its content, else by its role.
 *
 * Metadata that names a tool and content that has the tool in marks tell of the same call: what the content shows as the
 * output is taken from it, the arguments from the metadata. An empty message has no pieces.
 */
export function piecesOf(message: ReaderMessage): Piece[] {
  const told = readMetadata(message);
  if (told && told.length === 1 && told[0]?.type === "call") return [fillIn(told[0], message.content)];
  if (told) return told;
  if (message.content.trim() === "") return [];
  return readMarkers(message.content) ?? [byRole(message)];
}

function fillIn(piece: Extract<Piece, { type: "call" }>, content: string): Piece {
  const [shown] = (piece.result?.output === content && readMarkers(content)) || [];
  if (shown?.type !== "call") return piece;
  const type = piece.call.type ?? shown.call.type;
  const call = { ...piece.call, ...(type && { type }), input: { ...defined(shown.call.input), ...piece.call.input } };
  return { type: "call", call, result: { ...piece.result, output: shown.result?.output ?? "" } };
}

const defined = (input: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== ""));

function byRole({ role, content }: ReaderMessage): Piece {
  const text = withoutRule(content);
  switch (role) {
    case "user":
    case "human":
      return { type: "text", kind: "user", title: "", text };
    case "system":
    case "developer":
      return { type: "text", kind: "notice", title: firstLine(text), text };
    case "tool":
    case "function":
      return { type: "result", result: { output: content } };
    default:
      return { type: "text", kind: "assistant", title: "", text };
  }
}
