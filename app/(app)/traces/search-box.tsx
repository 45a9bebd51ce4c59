import { type Given, without } from "./hrefs";
import { SearchField } from "./search-field";

/** The search over all sessions, within the filters that are set. */
export function SearchBox({ given, order }: { given: Given; order: "newest" | "best" }) {
  const others = { ...without(given, "q"), ...(order === "newest" && given.q && { order }) };
  return (
    <search className="grow">
      <form method="get" action="/traces" className="flex gap-2">
        <label htmlFor="search" className="sr-only">
          Search
        </label>
        <SearchField q={given.q ?? ""} />
        {Object.entries(others).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button type="submit" className="button">
          Search
        </button>
      </form>
    </search>
  );
}
