import { HiddenFilters } from "./filter-menu";
import { type GivenFilters, without } from "./hrefs";
import { SearchField } from "./search-field";

type Props = { userId: string; given: GivenFilters; order: "newest" | "best" };

export function SearchBox({ userId, given, order }: Props) {
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
