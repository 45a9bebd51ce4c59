import Link from "next/link";
import type { CountedName, FilterName } from "#lib/search/schema";
import type { FacetValues } from "#lib/traces/schema";
import { Sign } from "../../../components/sign";
import { formatCount } from "../../../components/values/figures";
import { type GivenFilters, getFilterValues, listHref, without, withoutValue, withValue } from "../hrefs";

export type FilterOption = { name: FilterName; values: string[]; text: string; count: number };

/** Lists projects over machines and worktrees, once the ledger knows any. */
export function toFilterOptions(name: CountedName, values: FacetValues): FilterOption[] {
  if (name === "project" && values.projectId.length > 0)
    return values.projectId.map(({ name: text, value, count }) => ({
      name: "projectId",
      text,
      values: [value],
      count,
    }));
  const options = new Map<string, FilterOption>();
  for (const { value, count } of values[name]) {
    const text = name === "model" ? withoutDate(value) : value;
    const known = options.get(text);
    options.set(text, { name, text, values: [...(known?.values ?? []), value], count: (known?.count ?? 0) + count });
  }
  return [...options.values()].sort((a, b) => b.count - a.count);
}

/** A model's releases are one choice: `claude-opus-4-5-20251101` and `claude-opus-4-5`. */
const withoutDate = (model: string) => model.replace(/[-@]20\d{2}-?[01]\d-?[0-3]\d$/, "");

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
        <li key={option.values[0]}>
          <OptionChoice menu={name} given={given} option={option} />
        </li>
      ))}
      {options.length === 0 && <li className="px-3 py-1 text-muted">No session has one.</li>}
    </ul>
  );
}

function OptionChoice({ menu, given, option }: { menu: CountedName; given: GivenFilters; option: FilterOption }) {
  const { name, values, text, count } = option;
  const chosen = getFilterValues(given, name);
  const isChosen = values.every((value) => chosen.includes(value));
  const others = listFilterNames(menu).filter((other) => other !== name);
  const change = isChosen ? withoutValue : withValue;
  const href = values
    .filter((value) => isChosen || !chosen.includes(value))
    .reduce((rest, value) => change(rest, name, value), isChosen ? given : without(given, ...others));
  return <Choice href={listHref(href)} isChosen={isChosen} text={text} count={count} />;
}

type ChoiceProps = { href: string; isChosen: boolean; text: string; count?: number };

/** The menu stays open where the page does. */
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
