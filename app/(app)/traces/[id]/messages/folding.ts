import { type Block, blockSize, type ReaderRow, type RowPart, type ToolKind } from "#lib/reader/message";
import { slices } from "./slices";

/** Up to this many characters, the rest of a block, or a closed body, is on the page already. A longer one is loaded. */
export const maxFolded = 4096;

/** How much of a sub-agent's messages is drawn: whichever is reached first. */
export const maxNested = { messages: 200, characters: 100_000 };

const opened = new Set<ToolKind>(["question", "plan", "tasks", "subagent"]);

/** Whether a part that is folded begins open. */
export const isOpen = ({ kind, changes, blocks }: RowPart): boolean =>
  opened.has(kind) || (kind === "edit" && changes !== undefined) || blocks.some(({ type }) => type === "pictures");

/** How many characters a part's blocks hold. */
export const getPartSize = ({ blocks }: RowPart): number => blocks.reduce((sum, block) => sum + blockSize(block), 0);

/** What the frame of a row, and of a part, is worth in characters of its text. */
const frames = { row: 500, part: 300 };

/** What drawing a row costs: about how many characters of text are on the page for it. */
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
