/** Where the reader's page leads to. */
export type Links = {
  /** The list, with the filter that it had. */
  list: string;
  all: string;
  talk: string;
  newer: { href: string; title: string } | undefined;
  older: { href: string; title: string } | undefined;
};

type Query = Record<string, string | string[] | undefined>;

/** What of an address is about this page alone, and not the list's filter. */
const own = new Set(["at", "before", "after", "view", "delete"]);

/** The filter of the list that the reader came from, as it stands in the address. */
export function filterOf(query: Query): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && !own.has(entry[0]),
    ),
  );
}

/** An address of the reader's page. */
export function readerHref(traceId: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text ? `/traces/${traceId}?${text}` : `/traces/${traceId}`;
}
