/**
 * Where messages are on the page. The server renders them, so the page's scripts know them by their attributes, of which
 * messages.tsx has the list. All of it reads the layout: to be called once a frame at most.
 */

/** The top of a message after a jump, in pixels: below the sticky bars at their current height. */
export function topOffset(): number {
  const toolbar = document.querySelector<HTMLElement>("[data-toolbar]");
  const find = toolbar?.querySelector<HTMLElement>("search");
  // On a phone the field to find in covers the page from side to side; elsewhere it is in a corner.
  const covered = find && find.offsetWidth > window.innerWidth * 0.7 ? find.offsetHeight : 0;
  // The toolbar is below the navigation bar, which a phone has at the bottom.
  const above = toolbar ? Number.parseFloat(getComputedStyle(toolbar).top) || 0 : 0;
  return above + (toolbar?.offsetHeight ?? 0) + covered + 8;
}

const articleSelector = "article[data-position]";

/** What shows a message: its own row, or its place among folded tools. */
export const rowSelector = "article[data-position], [data-member]";

export const getPosition = (row: Element): number =>
  Number(row.getAttribute("data-member") ?? row.getAttribute("data-position"));

/** What shows the message at a position, where it is on the page; a result is shown at its call. */
export const articleAt = (position: number): HTMLElement | null =>
  document.getElementById(`m${position}`)?.closest<HTMLElement>(rowSelector) ?? null;

/** The rows in a part of the page. */
export const articlesIn = (root: ParentNode): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(articleSelector)];

/** The same but for those in closed folds. */
export const openArticles = (root: ParentNode): HTMLElement[] =>
  articlesIn(root).filter((article) => !article.parentElement?.closest("details:not([open])"));

/** The first row that is not wholly above the visible part of the page. */
export function topArticle(list: Element): HTMLElement | undefined {
  const below = topOffset();
  for (const segment of list.querySelectorAll(":scope > section")) {
    if (segment.getBoundingClientRect().bottom <= below) continue;
    const articles = openArticles(segment);
    let [low, high] = [0, articles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      // A row that ends within a few pixels below the bars has been read.
      if ((articles[middle]?.getBoundingClientRect().bottom ?? 0) <= below + 8) low = middle + 1;
      else high = middle;
    }
    if (articles[low]) return articles[low];
  }
  return undefined;
}

/** The last row whose start is in the visible part of the page. */
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

/** What shows the message at a position, else the row nearest before it, else the first after it, of those on the page. */
export function articleNear(position: number): HTMLElement | undefined {
  const exact = articleAt(position);
  if (exact) return exact;
  const rows = articlesIn(document).filter((row) => row.id !== "");
  return rows.findLast((row) => getPosition(row) <= position) ?? rows[0];
}

/** The row that Talk shows and that is nearest before a position, else the first after it. */
export function nearestTalk(list: Element | null, position: number): number | undefined {
  const talk = [...(list?.querySelectorAll(`${articleSelector}[data-talk="shown"]`) ?? [])].map(getPosition);
  return talk.findLast((at) => at <= position) ?? talk[0];
}

/** Opens every fold around an element. */
export function openFoldsRound(element: Element): void {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null)
    fold.open = true;
}

/** Brings a row to right below the bars, at once, and corrects it when the layout has settled. */
export function scrollToRow(row: HTMLElement, offset = topOffset()): void {
  const place = () => {
    const by = row.getBoundingClientRect().top - offset;
    if (Math.abs(by) > 0.5) window.scrollBy({ top: by, behavior: "instant" });
  };
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** For so many frames the layout may settle after many folds were opened: what was skipped is measured again. */
const settlingFrames = 12;

/**
 * Keeps a row where it stands while something changes the heights round it, until the layout has settled or the reader goes on
 * scrolling. A row that shrinks out of sight comes to right below the bars.
 */
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

/** Brings the page's start or end into view, at once, and corrects it when the layout has settled. */
export function scrollToEdge(edge: Edge): void {
  const place = () =>
    window.scrollTo({ top: edge === "start" ? 0 : document.documentElement.scrollHeight, behavior: "instant" });
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** The first message of a session, or the last. */
export type Edge = "start" | "end";

/** Gives a row the focus, and for a moment a mark that needs no motion. */
export function flash(row: HTMLElement): void {
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.removeAttribute("data-flash");
  void row.offsetWidth; // so that a second flash starts again
  row.setAttribute("data-flash", "");
  row.addEventListener("animationend", () => row.removeAttribute("data-flash"), { once: true });
}
