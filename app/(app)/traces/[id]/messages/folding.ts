import { type Block, blockSize, type PartKind, type ReaderRow, type RowPart } from "#lib/transcript/message";
import { sliceEnd } from "#lib/transcript/text";

export const slices = {
  page: { lines: 200, characters: 16_000 },
  more: { lines: 2000, characters: 128_000 },
};

/** Longer text is shown as plain lines. */
export const maxMarkdownCharacters = 256_000;

export type Slice = { text: string; end: number };

export function plainSlice(text: string, from: number, max: { lines: number; characters: number }): Slice {
  const end = sliceEnd(text, from, max);
  return { text: text.slice(from, end), end };
}

/** A fence that is cut is closed here and reopened in the next slice. */
export function markdownSlice(text: string, from: number, max: { lines: number; characters: number }): Slice {
  const opened = from === 0 ? "" : openFence(text.slice(0, from));
  const characters = Math.min(max.characters, slices.page.characters - 1000);
  let end = sliceEnd(text, from, { lines: max.lines, characters });
  if (end < text.length) {
    const gap = text.lastIndexOf("\n\n", end);
    if (gap > from + (end - from) / 2) end = gap + 2;
  }
  const part = (opened && `${opened}\n`) + text.slice(from, end);
  const open = end < text.length ? openFence(part) : "";
  const mark = /^\s*([`~]+)/.exec(open)?.[1];
  return { text: mark ? `${part.replace(/\n$/, "")}\n${mark}` : part, end };
}

function openFence(text: string): string {
  let open = "";
  let mark = "";
  for (const [line, fence = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})[^\n]{0,100}$/gm))
    if (open === "") [open, mark] = [line, fence];
    else if (fence.startsWith(mark) && line.trim() === fence) open = "";
  return open;
}

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
