"use client";
import { useEffect } from "react";
import { useKeys } from "../../../components/shell/keys";
import { markSessions } from "../marks/actions";

/** Enter then opens the row, which the browser does. */
function go(step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLAnchorElement>("a[data-row]")];
  const rows = all.filter((row) => row.checkVisibility()); // skips rows in closed folds
  const own = document.activeElement?.closest("li.session");
  const at = own ? rows.findIndex((row) => row.closest("li") === own) : -1;
  const next = at === -1 ? rows.at(0) : rows[at + step];
  next?.focus({ preventScroll: true });
  next?.closest("li")?.scrollIntoView({ block: "nearest" });
}

const focusedRow = () => document.activeElement?.closest<HTMLElement>("[data-rows] li.session");

function tick(shiftKey: boolean): void {
  const box = focusedRow()?.querySelector<HTMLInputElement>(":scope > .tick > input");
  box?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey }));
}

function turnStar(star: HTMLElement | null | undefined): void {
  const id = star?.closest("li")?.querySelector<HTMLInputElement>(":scope > .tick > input")?.value;
  if (!star || !id) return;
  const starred = star.getAttribute("aria-pressed") !== "true";
  const show = (isOn: boolean) => star.setAttribute("aria-pressed", String(isOn));
  show(starred);
  markSessions([id], { starred }).catch(() => show(!starred));
}

export function ListKeys() {
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Element) turnStar(event.target.closest<HTMLElement>("[data-rows] .star"));
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
  useKeys("The list", [
    { keys: "j", does: "Next session", run: () => go(1) },
    { keys: "k", does: "Previous session", run: () => go(-1) },
    { keys: "x", does: "Select the session", run: () => tick(false) },
    { keys: "X", does: "Select up to the session", run: () => tick(true) },
    {
      keys: "s",
      does: "Star the session",
      run: () => turnStar(focusedRow()?.querySelector<HTMLElement>(":scope > .star")),
    },
    { keys: "Enter", does: "Open the session", run: () => {} },
  ]);
  return null;
}
