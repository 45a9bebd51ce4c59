import type { Facet, FacetValues } from "#lib/traces/schema";
import { Sign } from "../../components/sign";
import { Choices, filtersOf, optionsOf } from "./choices";
import { type Given, without } from "./hrefs";
import { MenuValues } from "./menu-values";

type Props = {
  name: Facet;
  label: string;
  given: Given;
  /** The filters as the API takes them. */
  query: string;
  /** The values, where the page was requested with them. */
  values: FacetValues | undefined;
};

/** A menu of the values of one facet, with how many sessions have each, and a field for any other. */
export function FilterMenu({ name, label, given, query, values }: Props) {
  return (
    <Menu
      label={label}
      isSet={filtersOf(name).some((filter) => given[filter] !== undefined)}
      side={name === "machine" ? "right" : "left"}
    >
      <form method="get" action="/traces" className="flex gap-2 p-3">
        <HiddenFilters given={without(given, ...filtersOf(name))} />
        <input
          name={name}
          aria-label={`${label}, exactly`}
          placeholder={`${label}, exactly`}
          required
          autoComplete="off"
          className="input min-w-0"
        />
        <button type="submit" className="button">
          Show
        </button>
      </form>
      {values ? (
        <Choices name={name} given={given} options={optionsOf(name, values)} />
      ) : (
        <MenuValues name={name} given={given} query={query} />
      )}
    </Menu>
  );
}

type MenuProps = { label: string; isSet: boolean; side: "left" | "right"; children: React.ReactNode };

/** A button that opens a panel; of several, one is open at a time. */
export function Menu({ label, isSet, side, children }: MenuProps) {
  return (
    <details name="filter" data-menu className="sm:relative">
      <summary
        className={`button list-none gap-1 font-normal max-sm:w-full max-sm:justify-between ${isSet ? "border-accent bg-tint" : ""}`}
      >
        {label}
        {isSet && <span className="sr-only">, set</span>}
        <Sign name="down" />
      </summary>
      <div className={`menu-panel ${side === "left" ? "sm:left-0" : "sm:right-0"}`}>{children}</div>
    </details>
  );
}

/** Filters that a form keeps. */
export function HiddenFilters({ given }: { given: Given }) {
  return Object.entries(given).map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />);
}
