import type { RefObject } from "react";
import { getPosition, rowSelector, topArticle, topOffset } from "./geometry";

/** Returns the focused row if it is in view, else the one at the top. */
export function currentArticle(list: RefObject<HTMLElement | null>): HTMLElement | undefined {
  const focused = document.activeElement?.closest<HTMLElement>(rowSelector);
  if (focused) {
    const { top, bottom } = focused.getBoundingClientRect();
    if (bottom > topOffset() && top < window.innerHeight) return focused;
  }
  return list.current ? topArticle(list.current) : undefined;
}

export function currentPosition(list: RefObject<HTMLElement | null>): number {
  const article = currentArticle(list);
  return article ? getPosition(article) : 0;
}
