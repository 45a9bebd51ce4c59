import "server-only";
import type { Block, ReaderRow } from "#lib/reader/message";
import { languageOf } from "#lib/reader/vocabulary";
import { Effort } from "./effort";
import { prepareLanguages } from "./highlight";

/** What every part of a row is drawn with. */
export type Scene = {
  traceId: string;
  zone: string;
  /** The row's own position and all that lead to it. */
  position: number;
  positions: number[];
  /** Within a sub-agent's conversation, whose rows have no place of their own in the session. */
  nested: boolean;
  /** The time for what shows at once, and for what is folded. */
  open: Effort;
  closed: Effort;
};

/** For what one answer shows at once, and for what it holds folded. 18,700 characters of TypeScript take 35 ms. */
const efforts = {
  open: { milliseconds: 1000, characters: 150_000 },
  closed: { milliseconds: 500, characters: 50_000 },
};

/** Makes ready what drawing some rows needs. */
export async function prepareScene(traceId: string, zone: string, rows: ReaderRow[]) {
  await prepareLanguages(
    rows.flatMap(({ parts, members }) => [
      ...parts.flatMap(({ blocks }) => blocks.flatMap(languagesOf)),
      ...members.flatMap((member) => member.parts.flatMap(({ blocks }) => blocks.flatMap(languagesOf))),
    ]),
  );
  return { traceId, zone, nested: false, open: new Effort(efforts.open), closed: new Effort(efforts.closed) };
}

const fenceName = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]{1,32})/gm;

function languagesOf(block: Block): string[] {
  if (block.type === "code") return block.language ? [block.language] : [];
  if (block.type !== "markdown") return [];
  return [...block.text.slice(0, 32_000).matchAll(fenceName)].map(([, name = ""]) => languageOf(name)).filter(Boolean);
}
