"use client";
import { useEffect, useRef, useState } from "react";
import type { CountedName } from "#lib/search/schema";
import type { FacetValues } from "#lib/traces/schema";
import { type GivenFilters, listHref } from "../hrefs";
import { Choices, type FilterOption, toFilterOptions } from "./choices";

/** One request serves every menu, until the filters change. */
let loaded: { query: string; values: Promise<FacetValues> } | undefined;

function load(query: string): Promise<FacetValues> {
  if (loaded?.query === query) return loaded.values;
  const values = fetchValues(query);
  const own = { query, values };
  loaded = own;
  values.catch(() => {
    if (loaded === own) loaded = undefined; // the next menu to open tries again
  });
  return values;
}

async function fetchValues(query: string): Promise<FacetValues> {
  const response = await fetch(`/api/traces/facets?${query}`);
  if (!response.ok) throw new Error(`The values could not be loaded: ${response.status}`);
  return (await response.json()) as FacetValues;
}

type Props = { name: CountedName; given: GivenFilters; query: string };

export function MenuValues({ name, given, query }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [values, setValues] = useState<FilterOption[]>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const menu = place.current?.closest("details");
    let isCurrent = true;
    const onToggle = () => {
      if (!menu?.open) return;
      load(query).then(
        (all) => isCurrent && setValues(toFilterOptions(name, all)),
        () => isCurrent && setFailed(true),
      );
    };
    onToggle(); // it may have been open before the script loaded
    menu?.addEventListener("toggle", onToggle);
    return () => {
      isCurrent = false;
      menu?.removeEventListener("toggle", onToggle);
    };
  }, [name, query]);
  return (
    <div ref={place}>
      {values ? (
        <Choices name={name} given={given} options={values} />
      ) : (
        <div className="border-hairline border-t p-3">
          {!hasFailed && (
            <p role="status" className="needs-script text-muted">
              Counting…
            </p>
          )}
          <p className={hasFailed ? "" : "hidden noscript:block"}>
            {/* Explains why some values are missing. */}
            <a href={listHref(given, { menus: "1" })} target="_self" className="link">
              Show the values
            </a>
          </p>
        </div>
      )}
    </div>
  );
}
