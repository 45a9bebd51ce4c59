"use client";
import { usePathname, useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useRef, useState, useTransition } from "react";

const shapeAfterMs = 200;

/** Sent before soft navigation, while the page is unchanged, to save the place. */
export const leaving = "spoor:leaving";

type Go = (href: string) => void;
let goSoftly: Go | undefined;

export function goTo(href: string): void {
  const { origin, pathname } = new URL(href, location.href);
  if (goSoftly && origin === location.origin && isSoft(pathname)) goSoftly(href);
  else location.assign(href);
}

/**
 * Soft navigation for all links, including those in messages that React does not draw. Must precede the page in the
 * layout, to scroll and focus first.
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
  // On the same path a page may keep the previous address's state, except the list and the bar's pages.
  const isOther = link.pathname !== location.pathname;
  const isFragment = !isOther && link.search === location.search && link.hash !== "";
  if (isFragment || !(isOther || link.pathname === "/traces" || link.matches(".nav-link"))) return;
  event.preventDefault();
  goTo(link.href);
}

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

const followed = new Map<string, string>();
const getAddress = ({ pathname, search }: Pick<Location, "pathname" | "search">) => pathname + search;
const noteLink = (href: string) => followed.set(getAddress(location), getAddress(new URL(href, location.href)));

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

/** Signed-in pages replace each other without a reload, except confirmations, which forms also lead to. */
const soft =
  /^\/(?:home|traces(?!\/delete)|projects|pull|files|findings|uploads?|usage|devices|diagnostics|settings)(?:\/|$)/;

export const isSoft = (path: string): boolean => soft.test(path);

const isReader = (path: string): boolean => /^\/traces\/[0-9a-f-]{36}$/.test(path);

/** Rendered in the browser only, which keeps pages small. */
export function Shapes() {
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <div aria-hidden="true" className="shapes">
      {isReady && (
        <div className="wide">
          <span className="w-40" />
          {Array.from({ length: 9 }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows that never change
            <p key={row}>
              <span className={row % 3 === 1 ? "w-1/2" : "w-2/3"} />
              <span className="w-1/4" />
            </p>
          ))}
        </div>
      )}
    </div>
  );
}
