/** Where things stand on the page. All of it reads the layout, so it is called once a frame at most. */

/** Where a message comes to stand that is jumped to: below the bars that stick to the top. */
export function topOffset(): number {
  const toolbar = document.querySelector<HTMLElement>("[data-toolbar]");
  const find = toolbar?.querySelector<HTMLElement>("search");
  // On a phone the field to find in covers the page from side to side; elsewhere it stands in a corner.
  const covered = find && find.offsetWidth > window.innerWidth * 0.7 ? find.offsetHeight : 0;
  return navHeight + (toolbar?.offsetHeight ?? 0) + covered + 8;
}

const navHeight = 48;

const articleSelector = "article[data-position]";

/** What shows a message: its own row, or its place among folded tools. */
export const rowSelector = "article[data-position], [data-member]";

export const positionOf = (row: Element): number =>
  Number(row.getAttribute("data-member") ?? row.getAttribute("data-position"));

/** What shows the message at a position, where it is in the page; a result is shown at its call. */
export const articleAt = (position: number): HTMLElement | null =>
  document.getElementById(`m${position}`)?.closest<HTMLElement>(rowSelector) ?? null;

/** The rows in a part of the page, those in closed folds aside. */
export function openArticles(root: ParentNode): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(articleSelector)].filter(
    (article) => !article.parentElement?.closest("details:not([open])"),
  );
}

/** The first row that is not wholly above the visible part of the page. */
export function topArticle(list: Element): HTMLElement | undefined {
  const below = topOffset();
  for (const section of list.querySelectorAll(":scope > section")) {
    if (section.getBoundingClientRect().bottom <= below) continue;
    const articles = openArticles(section);
    let [low, high] = [0, articles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      // A row that ends within a few pixels below the bars is one that has been read.
      if ((articles[middle]?.getBoundingClientRect().bottom ?? 0) <= below + 8) low = middle + 1;
      else high = middle;
    }
    if (articles[low]) return articles[low];
  }
  return undefined;
}

/** The row that Talk shows and that is nearest before a position, else the first behind it. */
export function nearestTalk(list: Element | null, position: number): number | undefined {
  const shown = [...(list?.querySelectorAll('article[data-position][data-talk="shown"]') ?? [])].map(positionOf);
  return shown.findLast((at) => at <= position) ?? shown[0];
}

/** Opens every fold that a place lies in. @returns whether one was closed */
export function openFoldsRound(place: Element): boolean {
  let opened = false;
  for (let fold = place.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) {
    if (fold.open) continue;
    fold.open = true;
    opened = true;
  }
  return opened;
}

/** Brings a row to stand right below the bars, at once, and looks once more when the layout has come to rest. */
export function scrollToRow(row: HTMLElement, offset = topOffset()): void {
  const place = () => {
    const by = row.getBoundingClientRect().top - offset;
    if (Math.abs(by) > 0.5) window.scrollBy({ top: by, behavior: "instant" });
  };
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** Gives a row the focus, and for a moment a mark that needs no motion. */
export function flash(row: HTMLElement): void {
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.removeAttribute("data-flash");
  void row.offsetWidth; // so that a second flash begins anew
  row.setAttribute("data-flash", "");
  row.addEventListener("animationend", () => row.removeAttribute("data-flash"), { once: true });
}
