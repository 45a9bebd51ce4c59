import type { Piece } from "#lib/reader/call";
import { readMarkers, withoutRule } from "#lib/reader/markers";
import type { ReaderMessage } from "#lib/reader/message";
import { readMetadata } from "#lib/reader/metadata";
import { firstLine } from "#lib/reader/text";

/**
 * What a message holds, decided here alone: by its metadata, else by markers in its content, else by its role.
 *
 * Metadata that names a tool and content with the tool's markers describe the same call: the output is taken from the
 * content, the arguments from the metadata. An empty message has no pieces.
 */
export function piecesOf(message: ReaderMessage): Piece[] {
  const described = readMetadata(message);
  if (described && described.length === 1 && described[0]?.type === "call")
    return [fillIn(described[0], message.content)];
  if (described) return described;
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
