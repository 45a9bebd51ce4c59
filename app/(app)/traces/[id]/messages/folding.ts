import { type Block, blockSize, type PartKind, type ReaderRow, type RowPart } from "#lib/transcript/message";
import { slices } from "./slices";

/** Longer bodies are loaded on request. */
export const maxFolded = 4096;

export const maxNested = { messages: 200, characters: 100_000 };

const opened = new Set<PartKind>(["question", "plan", "tasks", "subagent"]);

export const isOpen = ({ kind, changes, blocks }: RowPart): boolean =>
  opened.has(kind) || (kind === "edit" && changes !== undefined) || blocks.some(({ type }) => type === "pictures");

export const getPartSize = ({ blocks }: RowPart): number => blocks.reduce((sum, block) => sum + blockSize(block), 0);

/** In characters of text. */
const frames = { row: 500, part: 300 };

export function getDrawingCost({ parts, members }: ReaderRow): number {
  return [...parts, ...members.flatMap((member) => member.parts)].reduce(
    (sum, part) => sum + frames.part + part.title.length + bodyCost(part),
    frames.row,
  );
}

function bodyCost(part: RowPart): number {
  const size = getPartSize(part);
  const isText = part.kind === "user" || part.kind === "assistant";
  if (!isText && !isOpen(part)) return size > maxFolded ? 0 : size;
  return part.blocks.reduce((sum, block) => sum + Math.min(blockSize(block), maxShown(block)), 0);
}

const maxShown = ({ type }: Block): number =>
  type === "transcript" ? maxNested.characters : slices.page.characters + maxFolded;
