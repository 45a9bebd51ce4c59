import type { TraceFilter } from "#lib/search/schema";
import { readFacets } from "#lib/traces/facets";
import { readerZone } from "../../../components/shell/preferences";
import { filterQuery, type GivenFilters, listFilterEntries } from "../hrefs";
import { DateMenu } from "./date-menu";
import { FilterMenu, FilterSwitch, MenuCloser } from "./filter-menu";
import { datePresets, parseFilterDay } from "./filters";
import { MoreMenu } from "./more-menu";

type Props = {
  userId: string;
  filter: TraceFilter;
  given: GivenFilters;
  /** Without JavaScript, values can't be loaded later. */
  hasValues: boolean;
  children: React.ReactNode;
};

export async function FilterBar({ userId, filter, given, hasValues, children }: Props) {
  const values = hasValues ? await readFacets(userId, filter) : undefined;
  const zone = await readerZone();
  const query = filterQuery(filter).toString();
  const set = listFilterEntries(given).length;
  return (
    <div className="flex flex-wrap gap-2 max-sm:contents">
      <FilterSwitch count={set} controls="filters" />
      <div
        id="filters"
        className="flex flex-wrap gap-2 max-sm:hidden max-sm:w-full max-sm:data-open:flex max-sm:noscript:flex"
      >
        {(["source", "model", "project"] as const).map((name) => (
          <FilterMenu key={name} name={name} given={given} query={query} values={values} />
        ))}
        <DateMenu
          given={given}
          zone={zone}
          presets={datePresets(zone, new Date())}
          days={{ from: parseFilterDay(given.from, zone), to: parseFilterDay(given.to, zone) }}
        />
        <MoreMenu given={given} query={query} values={values} />
        {children}
      </div>
      <MenuCloser />
    </div>
  );
}
