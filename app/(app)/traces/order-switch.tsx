import type { Order } from "#lib/traces/schema";
import { type GivenFilters, listHref } from "./hrefs";

const names: Record<Order, string> = { best: "Best match", newest: "Newest" };

/** In what order a search's sessions are, and a link to the other one. */
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
