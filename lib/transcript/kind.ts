import type { MessagePiece } from "#lib/transcript/call";
import { imagesNamed, isCaveat, splitInjected } from "#lib/transcript/injected";
import { readMarkers, readNotice, withoutRule } from "#lib/transcript/markers";
import type { ReaderMessage } from "#lib/transcript/message";
import { readMetadata } from "#lib/transcript/metadata";
import { firstLine } from "#lib/transcript/text";

/**
 * By metadata, else by markers in the content, else by the role. If both describe a call, the output comes from the
 * content and the arguments from the metadata.
 */
export function splitPieces(message: ReaderMessage): MessagePiece[] {
  const described = readMetadata(message);
  if (described && described.length === 1 && described[0]?.type === "call")
    return [fillIn(described[0], message.content)];
  if (described) return described.flatMap((piece) => (isPersons(piece) ? personsPieces(piece.text) : [piece]));
  if (message.content.trim() === "" || isCaveat(message.content)) return [];
  if (isPerson(message)) {
    const { own, added } = splitInjected(withoutRule(message.content));
    if (added.length > 0)
      return [...(own.trim() === "" ? [] : byMarkers({ ...message, content: own })), ...notices(added)];
  }
  return byMarkers(message);
}

const isPerson = ({ role }: ReaderMessage) => role === "user" || role === "human";
const isPersons = (piece: MessagePiece): piece is Extract<MessagePiece, { type: "text" }> =>
  piece.type === "text" && piece.kind === "user";

const byMarkers = (message: ReaderMessage): MessagePiece[] => readMarkers(message.content) ?? [byRole(message)];

function personsPieces(text: string): MessagePiece[] {
  const { own, added } = splitInjected(text);
  return [...(own.trim() === "" ? [] : [said(own)]), ...notices(added)];
}

const notices = (added: string[]): MessagePiece[] =>
  added.flatMap((text) => readNotice(text) ?? [{ type: "text", kind: "notice", title: noticeTitle(text), text }]);

function noticeTitle(text: string): string {
  const [, tag, inner = ""] = /^<([\w-]{1,40})[^>]*>([\s\S]*)/.exec(text) ?? [];
  return tag ? firstLine(`${tag.replace(/[-_]/g, " ")}: ${firstLine(inner)}`) : firstLine(text.replace(/^#+ /, ""));
}

function said(text: string): MessagePiece {
  const pictures = imagesNamed(text);
  if (pictures)
    return { type: "text", kind: "notice", title: firstLine(`Image: ${pictures.join(", ")}`), text: "", own: true };
  return { type: "text", kind: "user", title: "", text };
}

function fillIn(piece: Extract<MessagePiece, { type: "call" }>, content: string): MessagePiece {
  const [shown] = (piece.result?.output === content && readMarkers(content)) || [];
  if (shown?.type !== "call") return piece;
  const type = piece.call.type ?? shown.call.type;
  const call = { ...piece.call, ...(type && { type }), input: { ...defined(shown.call.input), ...piece.call.input } };
  return { type: "call", call, result: { ...piece.result, output: shown.result?.output ?? "" } };
}

const defined = (input: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== ""));

function byRole({ role, content }: ReaderMessage): MessagePiece {
  const text = withoutRule(content);
  switch (role) {
    case "user":
    case "human":
      return said(text);
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
