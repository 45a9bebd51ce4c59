import "server-only";
import type { Block, ReaderRow } from "#lib/reader/message";
import { languageOf } from "#lib/reader/vocabulary";
import { Effort } from "./effort";
import { prepareLanguages } from "./highlight";

/** What every part of a row is drawn with. */
export type Scene = {
  /** The address of the page that has the messages, and of the API that gives them as stored, for who may ask it. */
  page: string;
  stored: string | undefined;
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

/** Messages of one's own trace, or those that are shared at an address. */
export type Whose = { traceId: string } | { sharedAt: string };

function addressesOf(whose: Whose): Pick<Scene, "page" | "stored"> {
  if ("sharedAt" in whose) return { page: whose.sharedAt, stored: undefined };
  return { page: `/traces/${whose.traceId}`, stored: `/api/traces/${whose.traceId}/messages` };
}

/** For what one answer shows at once, and for what it holds folded. 18,700 characters of TypeScript take 35 ms. */
const efforts = {
  open: { milliseconds: 1000, characters: 150_000 },
  closed: { milliseconds: 500, characters: 50_000 },
};

/** Makes ready what drawing some rows needs. */
export async function prepareScene(whose: Whose, zone: string, rows: ReaderRow[]) {
  await prepareLanguages(
    rows.flatMap(({ parts, members }) => [
      ...parts.flatMap(({ blocks }) => blocks.flatMap(languagesOf)),
      ...members.flatMap((member) => member.parts.flatMap(({ blocks }) => blocks.flatMap(languagesOf))),
    ]),
  );
  return {
    ...addressesOf(whose),
    zone,
    nested: false,
    open: new Effort(efforts.open),
    closed: new Effort(efforts.closed),
  };
}

const fenceName = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]{1,32})/gm;

function languagesOf(block: Block): string[] {
  if (block.type === "code") return block.language ? [block.language] : [];
  if (block.type !== "markdown") return [];
  return [...block.text.slice(0, 32_000).matchAll(fenceName)].map(([, name = ""]) => languageOf(name)).filter(Boolean);
}
