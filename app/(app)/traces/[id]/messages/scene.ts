import "server-only";
import type { ReactNode } from "react";
import type { SessionFolders } from "#lib/transcript/files/paths";
import type { Block, ReaderRow } from "#lib/transcript/message";
import { findLanguage } from "#lib/transcript/vocabulary";
import { prepareLanguages } from "./code/highlight";
import { Effort } from "./effort";

export type Scene = {
  /** The page's address, and the API's for the session's owner. */
  page: string;
  stored: string | undefined;
  pictures: string;
  /** Readers of a shared session are not its person. */
  person: "You" | "User";
  zone: string;
  place: SessionFolders;
  sessions: Sessions;
  position: number;
  positions: number[];
  /** In a sub-agent's messages, whose rows have no position. */
  nested: boolean;
  words: Effort;
  open: Effort;
  closed: Effort;
  /** Passed on, because an import would be circular. */
  drawRow: (row: ReaderRow, scene: Scene) => ReactNode;
};

export type Sessions = Record<string, { href: string; text: string }>;

/** One's own trace, or messages shared at an address. */
export type Whose = { traceId: string } | { sharedAt: string; pictures?: string };

function describeView(whose: Whose): Pick<Scene, "page" | "stored" | "person" | "pictures"> {
  if ("sharedAt" in whose)
    return { page: whose.sharedAt, stored: undefined, person: "User", pictures: whose.pictures ?? "" };
  const { traceId } = whose;
  const api = `/api/traces/${traceId}`;
  return { page: `/traces/${traceId}`, stored: `${api}/messages`, person: "You", pictures: `${api}/pictures` };
}

export type View = { whose: Whose; zone: string; place?: SessionFolders; sessions?: Sessions };

const nowhere: SessionFolders = { roots: [], isWindows: false };

/** Per response. The times are a safety net. */
const efforts = {
  words: { milliseconds: 3000, characters: 0 },
  open: { milliseconds: 3000, characters: 150_000 },
  closed: { milliseconds: 1500, characters: 50_000 },
};

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
