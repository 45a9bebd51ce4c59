import Link from "next/link";
import type { CountedName, FilterName } from "#lib/search/schema";
import type { FacetValues } from "#lib/traces/schema";
import { Sign } from "../../../components/sign";
import { formatCount } from "../../../components/values/figures";
import { type GivenFilters, getFilterValues, listHref, without, withoutValue, withValue } from "../hrefs";

export type FilterOption = { name: FilterName; value: string; text: string; count: number };

/** Lists projects, merged across machines and worktrees, as soon as the ledger has any. */
export function toFilterOptions(name: CountedName, values: FacetValues): FilterOption[] {
  if (name === "project" && values.projectId.length > 0)
    return values.projectId.map(({ name: text, ...one }) => ({ name: "projectId", text, ...one }));
  return values[name].map((one) => ({ name, text: one.value, ...one }));
}

export const listFilterNames = (name: CountedName): FilterName[] =>
  name === "project" ? ["project", "projectId"] : [name];

type Props = { name: CountedName; given: GivenFilters; options: FilterOption[] };

export function Choices({ name, given, options }: Props) {
  const rest = without(given, ...listFilterNames(name));
  return (
    <ul className="max-h-[50dvh] overflow-y-auto border-hairline border-t py-1">
      {Object.keys(rest).length < Object.keys(given).length && (
        <li>
          <Choice href={listHref(rest)} isChosen={false} text={`Any ${name}`} />
        </li>
      )}
      {options.map((option) => (
        <li key={option.value}>
          <OptionChoice menu={name} given={given} option={option} />
        </li>
      ))}
      {options.length === 0 && <li className="px-3 py-1 text-muted">No session has one.</li>}
    </ul>
  );
}

function OptionChoice({ menu, given, option }: { menu: CountedName; given: GivenFilters; option: FilterOption }) {
  const { name, value, text, count } = option;
  const isChosen = getFilterValues(given, name).includes(value);
  const others = listFilterNames(menu).filter((other) => other !== name);
  const href = isChosen ? withoutValue(given, name, value) : withValue(without(given, ...others), name, value);
  return <Choice href={listHref(href)} isChosen={isChosen} text={text} count={count} />;
}

type ChoiceProps = { href: string; isChosen: boolean; text: string; count?: number };

export function Choice({ href, isChosen, text, count }: ChoiceProps) {
  return (
    <Link
      href={href}
      prefetch={false} // prefetching would cost the server the page's reads
      scroll={false}
      aria-current={isChosen ? "true" : undefined}
      className="choice"
    >
      <span className="min-w-0 grow truncate" title={text}>
        {text}
      </span>
      {isChosen && <Sign name="check" />}
      {count !== undefined && <span className="text-code text-muted">{formatCount(count)}</span>}
    </Link>
  );
}
