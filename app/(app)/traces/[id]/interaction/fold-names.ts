import { getPosition, rowSelector } from "../frame/geometry";

const foldSelector = "details[data-fold]";

/**
 * The row's position and the index at each level ("412:0.2"), so that bodies loaded later change no name. Members
 * begin with "m", since a group shares its first member's position.
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

export function foldNamed(list: ParentNode, name: string): HTMLDetailsElement | undefined {
  const [, member, position, path] = /^(m?)(\d{1,10}):(\d{1,6}(?:\.\d{1,6})*)$/.exec(name) ?? [];
  const row = list.querySelector(`[data-${member ? "member" : "position"}="${position}"]`);
  let fold: Element | null | undefined = row;
  for (const index of path?.split(".") ?? []) fold = fold && foldsIn(fold)[Number(index)];
  return fold instanceof HTMLDetailsElement ? fold : undefined;
}

function foldsIn(parent: Element): Element[] {
  return [...parent.querySelectorAll(foldSelector)].filter(
    (fold) => fold.parentElement?.closest(`${foldSelector}, ${rowSelector}`) === parent,
  );
}
