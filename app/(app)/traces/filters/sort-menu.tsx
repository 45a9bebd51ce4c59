"use client";
import { useActionState } from "react";
import type { Order, Sort } from "#lib/traces/schema";
import type { View } from "#lib/traces/views";
import { type GivenFilters, listHref, toSearchParams } from "../hrefs";
import { Choice } from "./choices";
import { Menu } from "./filter-menu";
import { removeViewAction, saveViewAction } from "./view-actions";

const words: Record<Sort, string> = {
  activity: "Latest activity",
  start: "Latest start",
  cost: "Highest cost",
  length: "Most messages",
};

export function SortMenu({ given, sort }: { given: GivenFilters; sort: Sort }) {
  return (
    <Menu label="Sort" isSet={sort !== "activity"} side="right">
      <ul className="py-1">
        {(Object.keys(words) as Sort[]).map((one) => (
          <li key={one}>
            <Choice
              href={listHref(given, one === "activity" ? {} : { sort: one })}
              isChosen={one === sort}
              text={words[one]}
            />
          </li>
        ))}
      </ul>
    </Menu>
  );
}

const fixed: [name: string, given: GivenFilters][] = [
  ["Starred", { starred: "true" }],
  ["Has errors", { errors: "true" }],
  ["Archived", { archived: "true" }],
];

export function ViewMenu({ given, sort, views }: { given: GivenFilters; sort: Sort; views: View[] }) {
  const query = toSearchParams(given, sort === "activity" ? {} : { sort }).toString();
  return (
    <Menu label="Views" isSet={views.some((view) => view.query === query && query !== "")} side="right">
      <ul className="py-1">
        {fixed.map(([name, of]) => (
          <li key={name}>
            <Choice href={listHref(of)} isChosen={listHref(of) === listHref(given)} text={name} />
          </li>
        ))}
        {views.map((view) => (
          <li key={view.name} className="flex items-center">
            <div className="min-w-0 grow">
              <Choice href={`/traces?${view.query}`} isChosen={view.query === query} text={view.name} />
            </div>
            <form action={removeViewAction}>
              <input type="hidden" name="name" value={view.name} />
              <button type="submit" className="link px-3 text-code" aria-label={`Remove the view ${view.name}`}>
                Remove
              </button>
            </form>
          </li>
        ))}
      </ul>
      {query !== "" && <KeepView query={query} />}
    </Menu>
  );
}

function KeepView({ query }: { query: string }) {
  const [state, keep] = useActionState(saveViewAction, {});
  return (
    <form action={keep} className="flex flex-wrap gap-2 border-hairline border-t p-3">
      <input type="hidden" name="query" value={query} />
      <input
        name="name"
        aria-label="Name of this view"
        placeholder="Name of this view"
        required
        maxLength={64}
        autoComplete="off"
        className="input min-w-0 basis-0 grow"
      />
      <button type="submit" className="button">
        Save
      </button>
      <p role="status" className="basis-full text-bad text-code empty:hidden">
        {state.error}
      </p>
    </form>
  );
}

const names: Record<Order, string> = { best: "Best match", newest: "Newest" };

export function OrderSwitch({ given, order }: { given: GivenFilters; order: Order }) {
  return (["best", "newest"] as const).map((name) => (
    <li key={name}>
      {name === order ? (
        <span aria-current="true" className="font-medium">
          {names[name]}
        </span>
      ) : (
        <a href={listHref(given, { order: name })} className="link">
          {names[name]}
        </a>
      )}
    </li>
  ));
}
