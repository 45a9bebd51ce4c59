import type { Order } from "#lib/traces/schema";
import { type GivenFilters, listHref } from "./hrefs";

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
