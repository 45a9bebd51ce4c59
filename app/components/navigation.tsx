"use client";
import { usePathname, useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useRef, useTransition } from "react";
import { isReader, isSoft } from "./soft-paths";

/** How long a page may take before its shape is shown (`Shapes`). */
const shapeAfterMs = 200;

/** Told on the window before a page is left without a reload, when it still is as it was: to save its place. */
export const leaving = "spoor:leaving";

type Go = (href: string) => void;
let goSoftly: Go | undefined;

/** Leads to a page, without a reload where that can be. */
export function goTo(href: string): void {
  const { origin, pathname } = new URL(href, location.href);
  if (goSoftly && origin === location.origin && isSoft(pathname)) goSoftly(href);
  else location.assign(href);
}

/**
 * Has links between the pages replace them without a reload. They stay links: for the middle button, with a modifier, and without
 * script. To stand before the page in the layout: it scrolls and gives the focus before the page itself does.
 */
export function Navigation() {
  const router = useRouter();
  const [isPending, start] = useTransition();
  useEffect(() => {
    goSoftly = (href) => {
      window.dispatchEvent(new Event(leaving));
      noteLink(href);
      // The reader scrolls to its own place.
      const { pathname } = new URL(href, location.href);
      start(() => router.push(href, { scroll: !isReader(pathname) }));
    };
    document.addEventListener("click", onClick);
    return () => {
      goSoftly = undefined;
      document.removeEventListener("click", onClick);
    };
  }, [router]);
  useShape(isPending);
  useArrival(isPending);
  return null;
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null;
  if (
    !link ||
    link.target ||
    link.hasAttribute("download") ||
    link.origin !== location.origin ||
    !isSoft(link.pathname)
  )
    return;
  // On the same path a page may keep what belongs to the address before; the list and the pages of the bar do not.
  const isOther = link.pathname !== location.pathname;
  const isFragment = !isOther && link.search === location.search && link.hash !== "";
  if (isFragment || !(isOther || link.pathname === "/traces" || link.matches(".nav-link"))) return;
  event.preventDefault();
  goTo(link.href);
}

/** Has the layout show a page's shape while it takes long. */
function useShape(isPending: boolean): void {
  useEffect(() => {
    if (!isPending) return;
    const { dataset } = document.documentElement;
    const timer = setTimeout(() => {
      dataset.loading = "true";
    }, shapeAfterMs);
    return () => {
      clearTimeout(timer);
      delete dataset.loading;
    };
  }, [isPending]);
}

/** By a page's address, the link in it that was followed last: who comes back goes on from there. */
const followed = new Map<string, string>();
const getAddress = ({ pathname, search }: Pick<Location, "pathname" | "search">) => pathname + search;
const noteLink = (href: string) => followed.set(getAddress(location), getAddress(new URL(href, location.href)));

/** Gives the focus to the heading of the page that was followed, or on going back to the link that was; a reader begins at its top. */
function useArrival(isPending: boolean): void {
  const path = usePathname();
  const before = useRef({ path, isPending });
  useLayoutEffect(() => {
    const { path: from, isPending: wasPending } = before.current;
    before.current = { path, isPending };
    const isArrived = wasPending && !isPending;
    if (from === path && !isArrived) return;
    if (from !== path && isReader(path)) window.scrollTo({ top: 0, behavior: "instant" });
    if (isArrived) focusStart();
    else focusFollowed();
  }, [path, isPending]);
}

/** What the address names, else the heading of the page; not where the focus is on what stays, as the bar. */
function focusStart(): void {
  const named = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const { activeElement } = document;
  if (!named && activeElement && activeElement !== document.body && !activeElement.closest("main")) return;
  const start = named ?? document.querySelector<HTMLElement>("main h1");
  if (start && start.tabIndex < 0) start.tabIndex = -1;
  start?.focus({ preventScroll: true });
}

function focusFollowed(): void {
  const href = followed.get(getAddress(location));
  if (href === undefined) return;
  const links = document.querySelectorAll<HTMLAnchorElement>("main a[href]");
  const link = [...links].find((one) => getAddress(one) === href);
  link?.focus({ preventScroll: true });
}
