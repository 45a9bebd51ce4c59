"use client";
import { type RefObject, useEffect } from "react";
import { askedPosition } from "./use-address";

/** Links to this session's messages jump; selecting text in a summary does not toggle its fold. */
export function useClicks(page: string, go: (position: number) => void, list: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const target = event.target instanceof Element ? event.target : undefined;
      const summary = target?.closest("summary");
      if (summary && list.current?.contains(summary) && isSelectedIn(summary)) event.preventDefault();
      const link = target?.closest<HTMLAnchorElement>("a[href]");
      if (!link || link.target || link.origin !== location.origin || link.pathname !== page) return;
      const position = askedPosition(new URL(link.href));
      if (position === undefined) return;
      event.preventDefault();
      go(position);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, [page, go, list]);
}

function isSelectedIn(element: Element): boolean {
  const selection = getSelection();
  return Boolean(selection && !selection.isCollapsed && selection.containsNode(element, true));
}
