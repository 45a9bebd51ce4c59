"use client";
import { useKeys } from "../../components/keys";

/** Focuses the row after or before the focused one; Enter then opens it, which the browser does. */
function go(step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLAnchorElement>("a[data-row]")];
  const rows = all.filter((row) => row.checkVisibility()); // not those in a closed fold
  const own = document.activeElement?.closest("li.session");
  const at = own ? rows.findIndex((row) => row.closest("li") === own) : -1;
  const next = at === -1 ? rows.at(0) : rows[at + step];
  next?.focus({ preventScroll: true });
  next?.closest("li")?.scrollIntoView({ block: "nearest" });
}

/** The keys of the list. */
export function ListKeys() {
  useKeys("The list", [
    { keys: "j", does: "Next session", run: () => go(1) },
    { keys: "k", does: "Previous session", run: () => go(-1) },
    { keys: "Enter", does: "Open the session", run: () => {} },
  ]);
  return null;
}
