import type { Dispatch, RefObject, SetStateAction } from "react";
import type { KeyBinding } from "../../../../components/key-registry";
import type { useFind } from "../find/use-find";
import { contentOf } from "../messages/use-copy";
import { stepTurn } from "../outline/turns";
import type { Frame } from "./frame";
import { flash, openArticles, positionOf, rowSelector, scrollToRow, topArticle, topOffset } from "./geometry";
import { type Links, readerHref } from "./links";

type Panel = { menu: boolean; rail: boolean };
type Props = {
  frame: Frame;
  list: RefObject<HTMLElement | null>;
  links: Links;
  find: ReturnType<typeof useFind>;
  talk: boolean;
  copy: (text: string, what: string) => Promise<void>;
  toView: (view: "all" | "talk") => void;
  remeasure: () => void;
  setPanel: Dispatch<SetStateAction<Panel>>;
  setSaid: (text: string) => void;
};

/** What the reader's keys do. */
export function readerKeys({
  frame,
  list,
  links,
  find,
  talk,
  copy,
  toView,
  remeasure,
  setPanel,
  setSaid,
}: Props): KeyBinding[] {
  const follow = (href: string | undefined) => {
    if (!href) return false;
    window.location.assign(href);
    return true;
  };
  const turn = (by: 1 | -1) => {
    const outline = frame.outline.get();
    if (!outline) return setSaid("The outline is still being read; turns can be stepped through in a moment");
    const position = stepTurn(outline.turns, here(list), by);
    if (position !== undefined) frame.jump(position);
  };
  const all = () => {
    const folds = [...(list.current?.querySelectorAll("details") ?? [])];
    const open = folds.some((fold) => !fold.open && !fold.dataset.load);
    // What has to be fetched stays closed: opening hundreds at once would ask the server for all of them.
    for (const fold of folds) fold.open = open && (fold.open || !fold.dataset.load);
    remeasure();
    setSaid(open ? "All folds are open" : "All folds are closed");
  };
  const copyMessage = async () => {
    const row = currentArticle(list);
    if (row) await copy(await contentOf(row, frame.traceId), "Message copied");
  };
  const address = () => new URL(readerHref(frame.traceId, { at: String(here(list)) }), location.href).href;
  const bindings: [keys: string, does: string, run: () => unknown][] = [
    ["j", "Next message", () => move(list, 1)],
    ["k", "Message before", () => move(list, -1)],
    ["J", "Next turn", () => turn(1)],
    ["K", "Turn before", () => turn(-1)],
    ["o", "Open or close folds", () => toggle(currentArticle(list))],
    ["O", "Open or close all folds", all],
    ["v", "All, or the talk alone", () => toView(talk ? "all" : "talk")],
    ["f", "Find in the session", () => find.setOpen(true)],
    ["n", "Next match", () => find.step(1)],
    ["N", "Match before", () => find.step(-1)],
    ["c", "Copy the message", () => copyMessage()],
    ["y", "Copy a link to it", () => copy(address(), "Link copied")],
    [
      "t",
      "Outline",
      () => setPanel((now) => (window.innerWidth >= 1024 ? { ...now, rail: !now.rail } : { ...now, menu: !now.menu })),
    ],
    ["u", "Back to the list", () => follow(links.list)],
    ["[", "Newer session of the list", () => follow(links.newer?.href)],
    ["]", "Older session of the list", () => follow(links.older?.href)],
  ];
  if (find.open) bindings.push(["Escape", "Close find", () => find.setOpen(false)]);
  return bindings.map(([keys, does, run]) => ({ keys, does, run: () => void (sheetIsOpen() || run()) }));
}

/** While the outline's sheet is open, what lies below it keeps still. */
const sheetIsOpen = () => document.querySelector("[role=dialog][data-open]") !== null;

/** The row that has the focus, where it can be seen, else the one at the top. */
function currentArticle(list: RefObject<HTMLElement | null>): HTMLElement | undefined {
  const focused = document.activeElement?.closest<HTMLElement>(rowSelector);
  if (focused) {
    const { top, bottom } = focused.getBoundingClientRect();
    if (bottom > topOffset() && top < window.innerHeight) return focused;
  }
  return list.current ? topArticle(list.current) : undefined;
}

function here(list: RefObject<HTMLElement | null>): number {
  const article = currentArticle(list);
  return article ? positionOf(article) : 0;
}

function move(list: RefObject<HTMLElement | null>, by: 1 | -1): boolean {
  const articles = list.current ? openArticles(list.current) : [];
  const current = currentArticle(list);
  const index = current ? articles.indexOf(current) : -1;
  const begun = current && current.getBoundingClientRect().top >= topOffset() - 2;
  const isCurrent = current === document.activeElement;
  // The first step takes the row at the top itself, where that begins in sight; back, where its beginning is out of sight.
  const stay = !isCurrent && (by === 1 ? begun : !begun);
  const next = articles[stay ? index : index + by];
  if (!next) return false;
  scrollToRow(next);
  flash(next);
  return true;
}

function toggle(article: HTMLElement | undefined): boolean {
  const folds = [...(article?.querySelectorAll("details") ?? [])];
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
  return folds.length > 0;
}
