import "server-only";
import type { ReactNode } from "react";
import type { SessionFolders } from "#lib/reader/files/paths";
import type { Block, ReaderRow } from "#lib/reader/message";
import { findLanguage } from "#lib/reader/vocabulary";
import { prepareLanguages } from "./code/highlight";
import { Effort } from "./effort";

/** What every part of a row is drawn with. */
export type Scene = {
  /** The address of the page, and of the API that has the messages as stored, for those who may ask it. */
  page: string;
  stored: string | undefined;
  /** Below which address the pictures are. */
  pictures: string;
  /** What the person is called: readers of a shared session are not them. */
  person: "You" | "User";
  zone: string;
  /** Where the session's files are: paths are shown as they are below it. */
  place: SessionFolders;
  /** The sessions that messages name, by their source ids: none where others read. */
  sessions: Sessions;
  /** The row's own position, and all that lead to it. */
  position: number;
  positions: number[];
  /** Within a sub-agent's messages, whose rows have no position in the session. */
  nested: boolean;
  /** Budgets for Markdown, for highlighting what shows at once, and for what is folded. */
  words: Effort;
  open: Effort;
  closed: Effort;
  /** Draws a row within a row: the import would close a circle, since rows are made of blocks. */
  drawRow: (row: ReaderRow, scene: Scene) => ReactNode;
};

/** Where the sessions of sub-agents are, and what is said of each, by their source ids. */
export type Sessions = Record<string, { href: string; text: string }>;

/** Messages of one's own trace, or those that are shared at an address, with the address of their pictures. */
export type Whose = { traceId: string } | { sharedAt: string; pictures?: string };

function describeView(whose: Whose): Pick<Scene, "page" | "stored" | "person" | "pictures"> {
  if ("sharedAt" in whose)
    return { page: whose.sharedAt, stored: undefined, person: "User", pictures: whose.pictures ?? "" };
  const { traceId } = whose;
  const api = `/api/traces/${traceId}`;
  return { page: `/traces/${traceId}`, stored: `${api}/messages`, person: "You", pictures: `${api}/pictures` };
}

/** What the messages are drawn for: whose they are, the reader's time zone, where the files are, and the sessions that they lead to. */
export type View = { whose: Whose; zone: string; place?: SessionFolders; sessions?: Sessions };

const nowhere: SessionFolders = { roots: [], isWindows: false };

/** Budgets of one response. 18,700 characters of TypeScript take 35 ms; the times are a safety net. */
const efforts = {
  words: { milliseconds: 3000, characters: 0 },
  open: { milliseconds: 3000, characters: 150_000 },
  closed: { milliseconds: 1500, characters: 50_000 },
};

/** Prepares what drawing some rows needs. */
export async function prepareScene({ whose, zone, place = nowhere }: View, rows: ReaderRow[]) {
  const parts = rows.flatMap((row) => [row, ...row.members]).flatMap((row) => row.parts);
  await prepareLanguages(new Set(parts.flatMap(({ blocks }) => blocks.flatMap(listLanguages))));
  return {
    ...describeView(whose),
    zone,
    place,
    nested: false,
    words: new Effort(efforts.words),
    open: new Effort(efforts.open),
    closed: new Effort(efforts.closed),
  };
}

const fenceName = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]{1,32})/gm;

function listLanguages(block: Block): string[] {
  if (block.type === "code" || block.type === "diff") return block.language ? [block.language] : [];
  if (block.type !== "markdown" && block.type !== "said") return [];
  const named = [...block.text.slice(0, 32_000).matchAll(fenceName)].map(([, name = ""]) => findLanguage(name));
  return [...named.filter(Boolean), ...(block.type === "said" ? ["diff"] : [])];
}
