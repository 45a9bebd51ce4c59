"use client";
import { type RefObject, useEffect } from "react";
import type { Frame } from "./frame";
import { bottomArticle, type Edge, getPosition, topOffset } from "./geometry";

/** Lets the browser's own scrolling stop below the bars (`scroll-padding`). */
export function useBars() {
  useEffect(() => {
    const measure = () => document.documentElement.style.setProperty("--bars", `${topOffset()}px`);
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
}

const saveMs = 250;

export function useFollow(
  { top, bottom }: Frame,
  list: RefObject<HTMLElement | null>,
  noteAnchor: () => Element | undefined,
  save: () => void,
) {
  useEffect(() => {
    let frame = 0;
    let rest = 0;
    const follow = () => {
      const row = noteAnchor();
      if (row) top.set(getPosition(row));
      const last = list.current && bottomArticle(list.current);
      if (last) bottom.set(isAtEnd(list.current) ? afterAll : Math.max(getLastPosition(last), top.get()));
    };
    const saveNow = () => {
      rest = 0;
      save();
    };
    const onScroll = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(follow);
      rest ||= window.setTimeout(saveNow, saveMs);
    };
    follow();
    const element = list.current;
    // Loading changes the rows in view without a scroll.
    const watcher = new MutationObserver(onScroll);
    if (element) watcher.observe(element, { childList: true });
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      watcher.disconnect();
      window.removeEventListener("scroll", onScroll);
    };
  }, [top, bottom, list, noteAnchor, save]);
}

export const afterAll = Number.MAX_SAFE_INTEGER;

/** Also true if the whole session fits on the screen. */
export function isAtEnd(list: Element | null): boolean {
  const next = list?.nextElementSibling;
  const isLast = !next || next.matches("[role=status]"); // the line about a live session
  return list !== null && isLast && list.getBoundingClientRect().bottom <= window.innerHeight + 1;
}

const getLastPosition = (row: HTMLElement): number =>
  Math.max(getPosition(row), Number(row.dataset.positions?.split(" ").at(-1) ?? 0));

/** Elements that use these keys themselves. */
const ownKeys =
  "input, textarea, select, [contenteditable], [role=tablist], [role=slider], [role=separator], [role=dialog]";

/** The browser only knows the loaded part. */
export function useEnds(toEdge: (edge: Edge) => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.shiftKey || event.altKey || event.metaKey) return;
      if (event.key !== "Home" && event.key !== "End") return;
      const target = event.target instanceof Element ? event.target : undefined;
      if (target?.closest(ownKeys) || document.querySelector("dialog[open], [role=dialog]")) return;
      event.preventDefault();
      toEdge(event.key === "Home" ? "start" : "end");
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [toEdge]);
}
