import type { SearchParams } from "../../../../components/shell/pages";

export type View = "all" | "talk";

export type Links = {
  /** A shared session has no list. */
  list?: string;
  all: string;
  talk: string;
  newer?: { href: string; title: string } | undefined;
  older?: { href: string; title: string } | undefined;
};

export type Filter = Record<string, string | string[]>;
const own = new Set(["at", "before", "after", "view", "delete"]);

const isObjectProperty = (name: string) => name in Object.prototype;

/** The list's filter, which the reader's address carries. */
export function parseFilter(query: SearchParams): Filter {
  return Object.fromEntries(
    Object.entries(query).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !own.has(entry[0]) && !isObjectProperty(entry[0]),
    ),
  );
}

export const readerHref = (traceId: string, query: Filter): string => placeHref(`/traces/${traceId}`, query);

export const shareHref = (traceId: string, query: { turn: number } | { from: number }): string =>
  `/traces/${traceId}/share?${new URLSearchParams(Object.entries(query).map(([name, at]) => [name, String(at)]))}`;

export function placeHref(page: string, query: Filter): string {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => [values].flat().map((value) => [name, value])),
  ).toString();
  return text ? `${page}?${text}` : page;
}

/** Only words are searched in the session, not file names. */
export const dropFileTerms = (q = ""): string =>
  q.replace(/(^|\s)-?(?:file|changed):(?:["“”][^"“”]*["“”]|\S+)/gi, "").trim();
