import { positionOf, rowSelector } from "../frame/geometry";

const foldSelector = "details[data-fold]";

/**
 * What names a fold on any page that shows its row: the row's position, and the fold's place among its siblings in each fold
 * round it, as "412:0.2". A body that is loaded later changes no other fold's name. A member's own begins with "m", since the
 * first of a group has the group's position.
 */
export function nameOf(fold: Element): string | undefined {
  const row = fold.closest<HTMLElement>(rowSelector);
  if (!row) return undefined;
  const path: number[] = [];
  for (let one: Element | null = fold; one && one !== row; ) {
    const round: Element = one.parentElement?.closest<HTMLElement>(`${foldSelector}, ${rowSelector}`) ?? row;
    path.unshift(foldsIn(round).indexOf(one));
    one = round;
  }
  return `${row.hasAttribute("data-member") ? "m" : ""}${positionOf(row)}:${path.join(".")}`;
}

/** The fold of a name, where its row is on the page and all the folds round it have their bodies. */
export function foldNamed(list: ParentNode, name: string): HTMLDetailsElement | undefined {
  const [, member, position, path] = /^(m?)(\d{1,10}):(\d{1,6}(?:\.\d{1,6})*)$/.exec(name) ?? [];
  const row = list.querySelector(`[data-${member ? "member" : "position"}="${position}"]`);
  let place: Element | null | undefined = row;
  for (const index of path?.split(".") ?? []) place = place && foldsIn(place)[Number(index)];
  return place instanceof HTMLDetailsElement ? place : undefined;
}

/** The folds right in a row or in a fold, those within them aside. */
function foldsIn(place: Element): Element[] {
  return [...place.querySelectorAll(foldSelector)].filter(
    (fold) => fold.parentElement?.closest(`${foldSelector}, ${rowSelector}`) === place,
  );
}
