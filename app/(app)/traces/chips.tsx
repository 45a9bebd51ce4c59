import { filterNames } from "#lib/traces/schema";
import { Sign } from "../../components/sign";
import { type Given, labelOf, listHref, without } from "./hrefs";

/** The filters that are set, each with a link that removes it. */
export function Chips({ given }: { given: Given }) {
  return filterNames.map((name) => {
    const value = given[name];
    if (value === undefined) return null;
    return (
      <li key={name} className="min-w-0">
        <a
          href={listHref(without(given, name))}
          className="flex h-6 items-center gap-1 rounded-control bg-tint px-2 text-code text-text hover:opacity-80 pointer-coarse:h-11"
        >
          <span className="sr-only">Remove filter</span>
          <span className="text-muted">{labelOf(name)}</span>
          <span className="max-w-60 truncate">{value}</span>
          <Sign name="cross" />
        </a>
      </li>
    );
  });
}
