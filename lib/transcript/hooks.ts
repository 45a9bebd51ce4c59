import type { MessagePiece } from "#lib/transcript/call";
import type { Block, RowPart } from "#lib/transcript/message";

const heading = /^(?:Pre|Post)ToolUse\w*:([\w.-]{1,128}) hook$/;

/** The tool whose call a hook ran for. */
export const hookTool = (piece: MessagePiece): string | undefined =>
  piece.type === "text" && piece.kind === "notice" ? heading.exec(piece.title)?.[1] : undefined;

/** @returns the hook's output, folded; undefined for other parts */
export function hookBlocks({ kind, title, blocks }: RowPart): Block[] | undefined {
  if (kind !== "notice" || !heading.test(title)) return undefined;
  return blocks.map((block) =>
    block.type === "markdown"
      ? { type: "markdown", text: block.text.slice(block.text.indexOf("\n") + 1), fold: title }
      : block,
  );
}
