import type { Facet, FacetValue } from "#lib/traces/schema";
import { formatCount } from "../../components/figures";
import { type Given, listHref, without } from "./hrefs";

type Props = { name: Facet; given: Given; values: FacetValue[] };

/** The values of a menu, each a link that sets the filter, and above them one that removes it. */
export function Choices({ name, given, values }: Props) {
  const chosen = given[name];
  return (
    <ul className="max-h-[50dvh] overflow-y-auto border-hairline border-t py-1">
      {chosen !== undefined && (
        <li>
          <Choice href={listHref(without(given, name))} isChosen={false} value={`Any ${name}`} />
        </li>
      )}
      {values.map(({ value, count }) => (
        <li key={value}>
          <Choice
            href={listHref({ ...given, [name]: value })}
            isChosen={value === chosen}
            value={value}
            count={count}
          />
        </li>
      ))}
      {values.length === 0 && <li className="px-3 py-1 text-muted">No session has one.</li>}
    </ul>
  );
}

type ChoiceProps = { href: string; isChosen: boolean; value: string; count?: number };

/** A line of a menu: a value, and how many sessions have it. */
export function Choice({ href, isChosen, value, count }: ChoiceProps) {
  return (
    <a href={href} aria-current={isChosen ? "true" : undefined} className="choice">
      <span className="min-w-0 grow truncate" title={value}>
        {value}
      </span>
      {count !== undefined && <span className="text-code text-muted">{formatCount(count)}</span>}
    </a>
  );
}
