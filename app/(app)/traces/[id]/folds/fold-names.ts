import { getPosition, rowSelector } from "../frame/geometry";

const foldSelector = "details[data-fold]";

/**
 * A fold's name on any page that shows its row: the row's position, and the fold's index among its siblings in each fold
 * around it, as "412:0.2". A body that is loaded later changes no other fold's name. A member's name begins with "m", since
 * the first of a group has the group's position.
 */
export function getFoldName(fold: Element): string | undefined {
  const row = fold.closest<HTMLElement>(rowSelector);
  if (!row) return undefined;
  const path: number[] = [];
  for (let one: Element | null = fold; one && one !== row; ) {
    const parent: Element = one.parentElement?.closest<HTMLElement>(`${foldSelector}, ${rowSelector}`) ?? row;
    path.unshift(foldsIn(parent).indexOf(one));
    one = parent;
  }
  return `${row.hasAttribute("data-member") ? "m" : ""}${getPosition(row)}:${path.join(".")}`;
}

/** The fold of a name, where its row is on the page and all folds around it have their bodies. */
export function foldNamed(list: ParentNode, name: string): HTMLDetailsElement | undefined {
  const [, member, position, path] = /^(m?)(\d{1,10}):(\d{1,6}(?:\.\d{1,6})*)$/.exec(name) ?? [];
  const row = list.querySelector(`[data-${member ? "member" : "position"}="${position}"]`);
  let fold: Element | null | undefined = row;
  for (const index of path?.split(".") ?? []) fold = fold && foldsIn(fold)[Number(index)];
  return fold instanceof HTMLDetailsElement ? fold : undefined;
}

/** The folds directly in a row or in a fold. */
function foldsIn(parent: Element): Element[] {
  return [...parent.querySelectorAll(foldSelector)].filter(
    (fold) => fold.parentElement?.closest(`${foldSelector}, ${rowSelector}`) === parent,
  );
}
