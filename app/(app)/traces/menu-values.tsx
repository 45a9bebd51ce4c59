"use client";
import { useEffect, useRef, useState } from "react";
import type { Facet, FacetValues } from "#lib/traces/schema";
import { Choices, type Option, optionsOf } from "./choices";
import { type Given, listHref } from "./hrefs";

/** The values for the page's filters; one request serves every menu. */
let loading: Promise<FacetValues> | undefined;

function load(query: string): Promise<FacetValues> {
  loading ??= fetchValues(query);
  loading.catch(() => {
    loading = undefined; // the next menu to be opened tries again
  });
  return loading;
}

async function fetchValues(query: string): Promise<FacetValues> {
  const response = await fetch(`/api/traces/facets?${query}`);
  if (!response.ok) throw new Error(`The values could not be loaded: ${response.status}`);
  return (await response.json()) as FacetValues;
}

type Props = { name: Facet; given: Given; query: string };

/** The values of a menu, loaded when it is opened. Without script, or where that fails, a link leads to a page with them. */
export function MenuValues({ name, given, query }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [values, setValues] = useState<Option[]>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const menu = place.current?.closest("details");
    const onToggle = () => {
      if (!menu?.open) return;
      load(query).then(
        (all) => setValues(optionsOf(name, all)),
        () => setFailed(true),
      );
    };
    onToggle(); // it may have been opened before the script was loaded
    menu?.addEventListener("toggle", onToggle);
    return () => menu?.removeEventListener("toggle", onToggle);
  }, [name, query]);
  if (values) return <Choices name={name} given={given} options={values} />;
  return (
    <div ref={place} className="border-hairline border-t p-3">
      {!hasFailed && (
        <p role="status" className="needs-script text-muted">
          Counting…
        </p>
      )}
      <p className={hasFailed ? "" : "hidden noscript:block"}>
        <a href={listHref(given, { menus: "1" })} className="link">
          Show the values
        </a>
      </p>
    </div>
  );
}
