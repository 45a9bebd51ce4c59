import { SpoorError } from "#lib/core/errors";

type PageLink = [text: string, href: string] | false | null | undefined | "";

export function Pager({ first, next, children }: { first: PageLink; next: PageLink; children?: React.ReactNode }) {
  if (!first && !next && !children) return null;
  return (
    <nav aria-label="Pages of the list" className="flex items-center gap-2 py-4">
      {first && (
        <a href={first[1]} className="button">
          {first[0]}
        </a>
      )}
      {next && (
        <a href={next[1]} className="button" rel="next">
          {next[0]}
        </a>
      )}
      {children}
    </nav>
  );
}

export async function readByCursor<Query extends { cursor?: string | undefined }, Page>(
  query: Query,
  read: (query: Query) => Promise<Page>,
): Promise<Page> {
  try {
    return await read(query);
  } catch (error) {
    if (!(error instanceof SpoorError && error.code === "invalid_request")) throw error;
    return read({ ...query, cursor: undefined });
  }
}
