import { facetsOf } from "#lib/traces/facets";
import type { TraceFilter } from "#lib/traces/schema";
import { readerZone } from "../../components/zone";
import { DateMenu } from "./date-menu";
import { FilterMenu } from "./filter-menu";
import { FilterSwitch } from "./filter-switch";
import type { Given } from "./hrefs";
import { MenuCloser } from "./menu-closer";

type Props = {
  userId: string;
  filter: TraceFilter;
  given: Given;
  /** Whether the page comes with the values: without script they could not come later. */
  hasValues: boolean;
};

const menus = [
  { name: "source", label: "Source" },
  { name: "model", label: "Model" },
  { name: "project", label: "Project" },
  { name: "machine", label: "Machine" },
] as const;

/**
 * The menus that narrow the list. The values in them are counted when one is opened, since that takes longer than finding a
 * page and few pages are asked for it. On a phone they stand behind one button.
 */
export async function FilterBar({ userId, filter, given, hasValues }: Props) {
  const values = hasValues ? await facetsOf(userId, filter) : undefined;
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
          <FilterMenu key={menu.name} {...menu} given={given} values={values?.[menu.name]} />
        ))}
        <DateMenu given={given} zone={zone} />
      </div>
      <MenuCloser />
    </div>
  );
}
