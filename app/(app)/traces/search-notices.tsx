import { correct } from "#lib/search/slips";
import { Notice } from "../../components/notice";
import { HiddenFilters } from "./filter-menu";
import { type GivenFilters, listHref, without } from "./hrefs";
import { SearchField } from "./search-field";

type Props = { given: GivenFilters; corrected?: string; isPartial?: boolean };

export function Instead({ given, corrected, isPartial }: Props) {
  if (!corrected && !isPartial) return null;
  return (
    <div className="flex flex-col gap-1 py-3">
      {corrected && (
        <p className="text-muted">
          No session has all of what you typed. Searched for{" "}
          <a href={listHref({ ...given, q: corrected })} className="link">
            {corrected}
          </a>{" "}
          instead.
        </p>
      )}
      {isPartial && <p className="text-muted">No session has all of these words. These have most of them.</p>}
    </div>
  );
}

export async function Meant({ userId, given }: { userId: string; given: GivenFilters }) {
  const corrected = given.q && (await correct(userId, given.q));
  if (!corrected) return null;
  return (
    <p>
      Did you mean{" "}
      <a href={listHref({ ...given, q: corrected })} className="link">
        {corrected}
      </a>
      ?
    </p>
  );
}

export function Lag({ sessions }: { sessions: number }) {
  if (sessions === 0) return null;
  const count =
    sessions >= 1000 ? "1,000 or more sessions are" : sessions === 1 ? "1 session is" : `${sessions} sessions are`;
  return (
    <div className="pb-4">
      <Notice tone="info">
        <p>{count} not yet searchable.</p>
      </Notice>
    </div>
  );
}

type SearchBoxProps = { userId: string; given: GivenFilters; order: "newest" | "best" };

export function SearchBox({ userId, given, order }: SearchBoxProps) {
  return (
    <search className="min-w-0 grow max-sm:basis-0">
      <form method="get" action="/traces" className="flex gap-2">
        <label htmlFor="search" className="sr-only">
          Search
        </label>
        <SearchField userId={userId} q={given.q ?? ""} />
        <HiddenFilters given={without(given, "q")} />
        {order === "newest" && given.q && <input type="hidden" name="order" value={order} />}
        <button type="submit" className="button max-sm:hidden">
          Search
        </button>
      </form>
    </search>
  );
}
