import { Suspense } from "react";
import type { Facet } from "#lib/traces/conditions";
import type { FacetValue } from "#lib/traces/facets";
import { formatCount } from "../../components/figures";
import { Sign } from "../../components/sign";
import { type Given, listHref, without } from "./filters";

type Props = {
  name: Facet;
  label: string;
  given: Given;
  /** What there is to choose in each menu, counted while the page is on its way. */
  values: Promise<Record<Facet, FacetValue[]>>;
  isWaitedFor: boolean;
};

/** A menu of the values that one column has, with how many sessions have each, and a field for any other. */
export function FilterMenu({ name, label, given, values, isWaitedFor }: Props) {
  const choices = <Values name={name} given={given} values={values} />;
  const later = (
    <p className="hidden border-hairline border-t p-3 noscript:block">
      <a href={listHref(given, { menus: "1" })} className="link">
        Show the values there are
      </a>
    </p>
  );
  return (
    <Menu label={label} isSet={given[name] !== undefined} side={name === "machine" ? "right" : "left"}>
      <form method="get" action="/traces" className="flex gap-2 p-3">
        <HiddenFilters given={without(given, name)} />
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
      {isWaitedFor ? choices : <Suspense fallback={later}>{choices}</Suspense>}
    </Menu>
  );
}

async function Values({ name, given, values }: Pick<Props, "name" | "given" | "values">) {
  const chosen = given[name];
  const known = (await values)[name];
  return (
    <ul className="max-h-[50dvh] overflow-y-auto border-hairline border-t py-1">
      {chosen !== undefined && (
        <li>
          <Choice href={listHref(without(given, name))} isChosen={false} value={`Any ${name}`} />
        </li>
      )}
      {known.map(({ value, count }) => (
        <li key={value}>
          <Choice
            href={listHref({ ...given, [name]: value })}
            isChosen={value === chosen}
            value={value}
            count={count}
          />
        </li>
      ))}
      {known.length === 0 && <li className="px-3 py-1 text-muted">No session has one.</li>}
    </ul>
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
      <div
        className={`z-20 flex flex-col rounded-block border border-hairline bg-overlay shadow-lg max-sm:mt-1 sm:absolute sm:top-full sm:mt-1 sm:w-72 ${side === "left" ? "sm:left-0" : "sm:right-0"}`}
      >
        {children}
      </div>
    </details>
  );
}

type ChoiceProps = { href: string; isChosen: boolean; value: string; count?: number };

/** A line of a menu: a value, and how many sessions it leads to. */
export function Choice({ href, isChosen, value, count }: ChoiceProps) {
  return (
    <a
      href={href}
      aria-current={isChosen ? "true" : undefined}
      className="flex min-h-8 items-center gap-3 px-3 hover:bg-block focus-visible:-outline-offset-2 aria-[current]:bg-tint aria-[current]:font-medium pointer-coarse:min-h-11"
    >
      <span className="min-w-0 grow truncate" title={value}>
        {value}
      </span>
      {count !== undefined && <span className="text-code text-muted">{formatCount(count)}</span>}
    </a>
  );
}

/** The filters that a form leaves as they are. */
export function HiddenFilters({ given }: { given: Given }) {
  return Object.entries(given).map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />);
}
