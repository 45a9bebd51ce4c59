"use client";
import type { CountedName, FilterName } from "#lib/search/schema";
import type { FacetValues } from "#lib/traces/schema";
import { type GivenFilters, getFilterValues, listHref, without, withoutValue, withValue } from "../hrefs";
import { Choice } from "./choices";
import { ExactForm, FilterValues, Menu } from "./filter-menu";

type Props = { given: GivenFilters; query: string; values: FacetValues | undefined };

const flags = [
  ["starred", "Starred"],
  ["errors", "Has errors"],
] as const;

const counted = ["branch", "tag", "tool", "machine"] as const satisfies CountedName[];

/** Minimum values offered for a number. */
const least = [
  {
    name: "minMessages",
    title: "Length",
    label: "Messages, at least",
    values: ["20", "100", "500"],
    pattern: "\\d{1,9}",
  },
  {
    name: "minCost",
    title: "Cost",
    label: "Dollars, at least",
    values: ["1", "10", "50"],
    pattern: "\\d{1,7}(\\.\\d{1,4})?",
  },
] as const;

export function MoreMenu({ given, query, values }: Props) {
  const names: FilterName[] = [...counted, "file", ...flags.map(([name]) => name), ...least.map(({ name }) => name)];
  return (
    <Menu label="More" isSet={names.some((name) => given[name] !== undefined)} side="right">
      <div className="flex max-h-[70dvh] flex-col overflow-y-auto py-1">
        {flags.map(([name, text]) => {
          const isChosen = given[name] === "true";
          const href = listHref(isChosen ? without(given, name) : { ...given, [name]: "true" });
          return <Choice key={name} href={href} isChosen={isChosen} text={text} />;
        })}
        {counted.map((name) => (
          <Fold key={name} title={name} set={getFilterValues(given, name)}>
            <FilterValues name={name} given={given} query={query} values={values} />
          </Fold>
        ))}
        <FileFold given={given} />
        {least.map(({ name, title, label, values: amounts, pattern }) => (
          <Fold key={name} title={title} set={getFilterValues(given, name)}>
            <ExactForm name={name} label={label} given={without(given, name)} pattern={pattern} title={label} />
            <div className="border-hairline border-t py-1">
              {amounts.map((amount) => {
                const isChosen = given[name] === amount;
                const href = listHref(isChosen ? without(given, name) : withValue(given, name, amount));
                const text = name === "minCost" ? `$${amount} and more` : `${amount} messages and more`;
                return <Choice key={amount} href={href} isChosen={isChosen} text={text} />;
              })}
            </div>
          </Fold>
        ))}
      </div>
    </Menu>
  );
}

/** Files are too many to count. */
function FileFold({ given }: { given: GivenFilters }) {
  const files = getFilterValues(given, "file");
  return (
    <Fold title="file" set={files}>
      <ExactForm name="file" label="The end of a path" given={given} />
      {files.map((file) => (
        <Choice key={file} href={listHref(withoutValue(given, "file", file))} isChosen text={file} />
      ))}
    </Fold>
  );
}

function Fold({ title, set, children }: { title: string; set: string[]; children: React.ReactNode }) {
  return (
    <details name="more" className="fold">
      <summary>
        <span className="grow capitalize">{title}</span>
        {set.length > 0 && <span className="min-w-0 truncate text-code text-muted">{set.join(", ")}</span>}
      </summary>
      {children}
    </details>
  );
}
