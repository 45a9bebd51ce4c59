export type View = "all" | "talk";

/** Where the reader's page leads to. */
export type Links = {
  /** With the filter that it had; a link's reader has no list. */
  list?: string;
  all: string;
  talk: string;
  newer?: { href: string; title: string } | undefined;
  older?: { href: string; title: string } | undefined;
};

/** The list's filters; a repeated parameter is a list. */
export type Filter = Record<string, string | string[]>;
type Query = Record<string, string | string[] | undefined>;

/** The parameters of this page itself, which are no filter of the list. */
const own = new Set(["at", "before", "after", "view", "delete"]);

/** Tells names that every object has: React passes no object to the browser that uses one of them for something else. */
const isObjectProperty = (name: string) => name in Object.prototype;

/** The filter of the list that the reader came from, in the page's address. */
export function parseFilter(query: Query): Filter {
  return Object.fromEntries(
    Object.entries(query).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !own.has(entry[0]) && !isObjectProperty(entry[0]),
    ),
  );
}

/** An address of the reader's page. */
export const readerHref = (traceId: string, query: Filter): string => placeHref(`/traces/${traceId}`, query);

/** Where one turn of a session is shared, or all of it from a message on. */
export const shareHref = (traceId: string, query: { turn: number } | { from: number }): string =>
  `/traces/${traceId}/share?${new URLSearchParams(Object.entries(query).map(([name, at]) => [name, String(at)]))}`;

/** The address of a place in the reader, by the page's path: one's own session's or a link's. */
export function placeHref(page: string, query: Filter): string {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => [values].flat().map((value) => [name, value])),
  ).toString();
  return text ? `${page}?${text}` : page;
}

/** The words of the list's search, which are looked for in the session: the files that it names are no words of it. */
export const dropFileTerms = (q = ""): string =>
  q.replace(/(^|\s)-?(?:file|changed):(?:["“”][^"“”]*["“”]|\S+)/gi, "").trim();
