import { facetsOf } from "#lib/traces/facets";
import type { TraceFilter } from "#lib/traces/schema";
import { readerZone } from "../../components/zone";
import { DateMenu } from "./date-menu";
import { FilterMenu } from "./filter-menu";
import { FilterSwitch } from "./filter-switch";
import type { Given } from "./filters";
import { MenuCloser } from "./menu-closer";

type Props = {
  userId: string;
  filter: TraceFilter;
  given: Given;
  /** Whether the values are waited for: without script they could not come later. */
  isWaitedFor: boolean;
};

const menus = [
  { name: "source", label: "Source" },
  { name: "model", label: "Model" },
  { name: "project", label: "Project" },
  { name: "machine", label: "Machine" },
] as const;

/**
 * The menus that narrow the list. The values in them come behind the list, since counting them takes longer than finding a
 * page. On a phone they stand behind one button.
 */
export async function FilterBar({ userId, filter, given, isWaitedFor }: Props) {
  const values = facetsOf(userId, filter);
  values.catch(() => {}); // is thrown where a menu shows them
  if (isWaitedFor) await values;
  const zone = await readerZone();
  const set = Object.keys(given).length;
  return (
    <div className="flex flex-wrap gap-2 max-sm:w-full">
      <FilterSwitch count={set} controls="filters" />
      <div
        id="filters"
        className="flex flex-wrap gap-2 max-sm:hidden max-sm:w-full max-sm:flex-col max-sm:data-open:flex max-sm:noscript:flex"
      >
        {menus.map((menu) => (
          <FilterMenu key={menu.name} {...menu} given={given} values={values} isWaitedFor={isWaitedFor} />
        ))}
        <DateMenu given={given} zone={zone} />
      </div>
      <MenuCloser />
    </div>
  );
}
