"use client";
import { useEffect, useRef, useState } from "react";
import type { Facet } from "#lib/traces/conditions";
import type { FacetValue } from "#lib/traces/facets";
import { Choices } from "./choices";
import { type Given, listHref, withQuery } from "./hrefs";

type Values = Record<Facet, FacetValue[]>;

/** What was asked for on this page; one answer serves every menu. */
let asked: Promise<Values> | undefined;

function ask(given: Given): Promise<Values> {
  asked ??= read(given);
  asked.catch(() => {
    asked = undefined; // opened once more, a menu tries again
  });
  return asked;
}

async function read(given: Given): Promise<Values> {
  const response = await fetch(withQuery("/traces/values", new URLSearchParams(given)));
  if (!response.ok || response.redirected) throw new Error(`the values could not be read: ${response.status}`);
  return (await response.json()) as Values;
}

/** The values of a menu, counted when it is opened. Without script, or where that fails, a link asks for a page with them. */
export function MenuValues({ name, given }: { name: Facet; given: Given }) {
  const place = useRef<HTMLDivElement>(null);
  const [values, setValues] = useState<FacetValue[]>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const menu = place.current?.closest("details");
    const onToggle = () => {
      if (!menu?.open) return;
      ask(given).then(
        (all) => setValues(all[name]),
        () => setFailed(true),
      );
    };
    onToggle(); // it may have been opened before the page's script was there
    menu?.addEventListener("toggle", onToggle);
    return () => menu?.removeEventListener("toggle", onToggle);
  }, [name, given]);
  if (values) return <Choices name={name} given={given} values={values} />;
  return (
    <div ref={place} className="border-hairline border-t p-3">
      {!hasFailed && (
        <p role="status" className="needs-script text-muted">
          Counting…
        </p>
      )}
      <p className={hasFailed ? "" : "hidden noscript:block"}>
        <a href={listHref(given, { menus: "1" })} className="link">
          Show the values there are
        </a>
      </p>
    </div>
  );
}
