import Link from "next/link";
import { parseTerms, withoutTerm } from "#lib/search/grammar";
import { filterNames } from "#lib/search/schema";
import { Sign } from "../../../components/sign";
import {
  type FilterTitles,
  type GivenFilters,
  getFilterLabel,
  getFilterValues,
  listHref,
  shownValue,
  without,
  withoutValue,
} from "../hrefs";

export function Chips({
  given,
  names,
  parent,
}: {
  given: GivenFilters;
  names: FilterTitles;
  parent: string | undefined;
}) {
  return filterNames.flatMap((name) => {
    if (name !== "q")
      return getFilterValues(given, name).map((value) => (
        <Chip
          key={`${name} ${value}`}
          label={getFilterLabel(name)}
          value={name === "parent" ? (parent ?? "a missing session") : shownValue(name, value, names)}
          href={listHref(withoutValue(given, name, value))}
        />
      ));
    const { q: value } = given;
    if (value === undefined) return [];
    const withQuery = (q: string) => listHref({ ...without(given, "q"), ...(q !== "" && { q }) });
    const terms = parseTerms(value).filter(({ filter }) => filter !== undefined);
    const words = terms.toReversed().reduce((rest, term) => withoutTerm(rest, term), value);
    return [
      ...terms.map((term) => (
        <Chip
          key={term.at}
          label={`${term.excluded ? "without " : ""}${term.filter}`}
          value={term.text}
          href={withQuery(withoutTerm(value, term))}
        />
      )),
      ...(words === ""
        ? []
        : [
            <Chip
              key={name}
              label={getFilterLabel(name)}
              value={words}
              href={withQuery(terms.map(({ written }) => written).join(" "))}
            />,
          ]),
    ];
  });
}

function Chip({ label, value, href }: { label: string; value: string; href: string }) {
  return (
    <li className="min-w-0">
      <Link
        href={href}
        prefetch={false}
        scroll={false}
        className="flex h-6 items-center gap-1 rounded-control bg-tint px-2 text-code text-text hover:opacity-80 pointer-coarse:h-11"
      >
        <span className="sr-only">Remove filter</span>
        <span className="text-muted">{label}</span>
        <span className="max-w-60 truncate">{value}</span>
        <Sign name="cross" />
      </Link>
    </li>
  );
}
