import type { RefObject } from "react";

/** Everything here reads the layout: call it at most once a frame. */

/** In pixels, below the sticky bars. */
export function topOffset(): number {
  const toolbar = document.querySelector<HTMLElement>("[data-toolbar]");
  const find = toolbar?.querySelector<HTMLElement>("search");
  // On a phone the search field covers the full width.
  const covered = find && find.offsetWidth > window.innerWidth * 0.7 ? find.offsetHeight : 0;
  const above = toolbar ? Number.parseFloat(getComputedStyle(toolbar).top) || 0 : 0;
  return above + (toolbar?.offsetHeight ?? 0) + covered + 8;
}

const articleSelector = "article[data-position]";

/** A message's own row, or its place in a group. */
export const rowSelector = "article[data-position], [data-member]";

export const getPosition = (row: Element): number =>
  Number(row.getAttribute("data-member") ?? row.getAttribute("data-position"));

/** A result is shown at its call. */
export const articleAt = (position: number): HTMLElement | null =>
  document.getElementById(`m${position}`)?.closest<HTMLElement>(rowSelector) ?? null;

export const articlesIn = (root: ParentNode): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(articleSelector)];

export const openArticles = (root: ParentNode): HTMLElement[] =>
  articlesIn(root).filter((article) => !article.parentElement?.closest("details:not([open])"));

export function topArticle(list: Element): HTMLElement | undefined {
  const below = topOffset();
  for (const segment of list.querySelectorAll(":scope > section")) {
    if (segment.getBoundingClientRect().bottom <= below) continue;
    const articles = openArticles(segment);
    let [low, high] = [0, articles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((articles[middle]?.getBoundingClientRect().bottom ?? 0) <= below + 8) low = middle + 1;
      else high = middle;
    }
    if (articles[low]) return articles[low];
  }
  return undefined;
}

export function bottomArticle(list: Element): HTMLElement | undefined {
  for (const segment of [...list.querySelectorAll(":scope > section")].reverse()) {
    if (segment.getBoundingClientRect().top >= window.innerHeight) continue;
    const articles = openArticles(segment);
    let [low, high] = [0, articles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((articles[middle]?.getBoundingClientRect().top ?? 0) < window.innerHeight) low = middle + 1;
      else high = middle;
    }
    if (articles[low - 1]) return articles[low - 1];
  }
  return undefined;
}

function articleNear(position: number): HTMLElement | undefined {
  const exact = articleAt(position);
  if (exact) return exact;
  const rows = articlesIn(document).filter((row) => row.id !== "");
  return rows.findLast((row) => getPosition(row) <= position) ?? rows[0];
}

export function nearestTalk(list: Element | null, position: number): number | undefined {
  const talk = [...(list?.querySelectorAll(`${articleSelector}[data-talk="shown"]`) ?? [])].map(getPosition);
  return talk.findLast((at) => at <= position) ?? talk[0];
}

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

export function openFoldsRound(element: Element): void {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
}

/** The layout settles after two frames. */
export function scrollToRow(row: HTMLElement, offset = topOffset()): void {
  const place = () => {
    const by = row.getBoundingClientRect().top - offset;
    if (Math.abs(by) > 0.5) window.scrollBy({ top: by, behavior: "instant" });
  };
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** Skipped segments are measured again after many folds were toggled. */
const settlingFrames = 12;

/** Keeps a row in place until the layout settles or the reader scrolls. */
export function holdInPlace(row: HTMLElement | undefined, change: () => void): void {
  const stood = row?.getBoundingClientRect().top;
  change();
  if (!row || stood === undefined) return;
  const ended = new AbortController();
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    window.addEventListener(type, () => ended.abort(), { once: true, passive: true, signal: ended.signal });
  let frames = 0;
  const place = () => {
    if (ended.signal.aborted) return;
    const { top, height } = row.getBoundingClientRect();
    const wanted = stood + height > topOffset() ? stood : topOffset();
    if (Math.abs(top - wanted) > 0.5) window.scrollBy({ top: top - wanted, behavior: "instant" });
    frames += 1;
    if (frames < settlingFrames) requestAnimationFrame(place);
    else ended.abort();
  };
  place();
}

function scrollToEdge(edge: Edge): void {
  const place = () =>
    window.scrollTo({ top: edge === "start" ? 0 : document.documentElement.scrollHeight, behavior: "instant" });
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

export type Edge = "start" | "end";

/**
 * `offset` in pixels for another place than the top, `quiet` without focus and mark, `near` accepts the neighbouring
 * row.
 */
export type Target = { position: number; offset?: number; quiet?: boolean; near?: boolean } | { edge: Edge };

export function arriveAt(target: Target, isLoaded: boolean): boolean {
  if ("edge" in target) {
    if (isLoaded) scrollToEdge(target.edge);
    return isLoaded;
  }
  const { position, offset, quiet, near } = target;
  const row = near && isLoaded ? articleNear(position) : articleAt(position);
  if (!row) return false;
  openFoldsRound(row);
  scrollToRow(row, offset);
  if (!quiet) flash(row);
  return true;
}

export function flash(row: HTMLElement): void {
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.removeAttribute("data-flash");
  void row.offsetWidth; // restarts the animation
  row.setAttribute("data-flash", "");
  row.addEventListener("animationend", () => row.removeAttribute("data-flash"), { once: true });
}
