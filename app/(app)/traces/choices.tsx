import type { Facet, FacetValues, FilterName } from "#lib/traces/schema";
import { formatCount } from "../../components/figures";
import { type Given, listHref, without } from "./hrefs";

/** What a menu offers: a filter's value, and how it is shown. */
export type Option = { name: FilterName; value: string; text: string; count: number };

/** A facet's values as options. Projects are offered as such, over machines and worktrees, once the ledger knows any. */
export function optionsOf(facet: Facet, values: FacetValues): Option[] {
  if (facet === "project" && values.projectId.length > 0)
    return values.projectId.map(({ name: text, ...one }) => ({ name: "projectId", text, ...one }));
  return values[facet].map((one) => ({ name: facet, text: one.value, ...one }));
}

/** The filters that a menu sets. */
export const filtersOf = (facet: Facet): FilterName[] => (facet === "project" ? ["project", "projectId"] : [facet]);

type Props = { name: Facet; given: Given; options: Option[] };

/** The values of a menu, each a link that sets the filter, and above them one that removes it. */
export function Choices({ name, given, options }: Props) {
  const rest = without(given, ...filtersOf(name));
  return (
    <ul className="max-h-[50dvh] overflow-y-auto border-hairline border-t py-1">
      {Object.keys(rest).length < Object.keys(given).length && (
        <li>
          <Choice href={listHref(rest)} isChosen={false} text={`Any ${name}`} />
        </li>
      )}
      {options.map(({ name: filter, value, text, count }) => (
        <li key={value}>
          <Choice
            href={listHref({ ...rest, [filter]: value })}
            isChosen={value === given[filter]}
            text={text}
            count={count}
          />
        </li>
      ))}
      {options.length === 0 && <li className="px-3 py-1 text-muted">No session has one.</li>}
    </ul>
  );
}

type ChoiceProps = { href: string; isChosen: boolean; text: string; count?: number };

/** A line of a menu: a value, and how many sessions have it. */
export function Choice({ href, isChosen, text, count }: ChoiceProps) {
  return (
    <a href={href} aria-current={isChosen ? "true" : undefined} className="choice">
      <span className="min-w-0 grow truncate" title={text}>
        {text}
      </span>
      {count !== undefined && <span className="text-code text-muted">{formatCount(count)}</span>}
    </a>
  );
}
