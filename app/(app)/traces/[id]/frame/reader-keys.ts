import type { RefObject } from "react";
import type { KeyBinding } from "../../../../components/shell/keys";
import { goTo } from "../../../../components/shell/navigation";
import type { Find } from "../find/use-find";
import { fetchRowContent, showRowCopied } from "../interaction/use-copy";
import { stepTurn, turnAt } from "../outline/turns";
import type { Frame } from "./frame";
import { currentArticle, currentPosition, flash, holdInPlace, openArticles, scrollToRow, topOffset } from "./geometry";
import { type Links, placeHref, shareHref, type View } from "./links";

type Props = {
  share: Share | undefined;
  frame: Frame;
  list: RefObject<HTMLElement | null>;
  links: Links;
  find: Find;
  talk: boolean;
  copy: (text: string, done: string) => Promise<void>;
  toView: (view: View) => void;
  remeasure: () => void;
  toggleOutline: () => void;
  say: (text: string) => void;
};

type Binding = [keys: string, does: string, run: () => unknown];

export function readerKeys(props: Props): KeyBinding[] {
  const { frame, list, find, talk, copy, toView, toggleOutline } = props;
  const copyLink = () =>
    copy(new URL(placeHref(frame.page, { at: String(currentPosition(list)) }), location.href).href, "Link copied");
  const bindings: Binding[] = [
    ["j", "Next message", () => move(list, 1)],
    ["k", "Previous message", () => move(list, -1)],
    ["J", "Next turn", () => toTurn(props, 1)],
    ["K", "Previous turn", () => toTurn(props, -1)],
    ["o", "Open or close folds", () => toggleFolds(currentArticle(list))],
    ["O", "Open or close all folds", () => toggleAllFolds(props)],
    ["v", "Switch between everything and conversation", () => toView(talk ? "all" : "talk")],
    ["y", "Copy a link to it", copyLink],
    ["t", "Outline", toggleOutline],
    ["Home", "Start of the session", () => frame.toEdge("start")],
    ["End", "End of the session", () => frame.toEdge("end")],
  ];
  if (frame.traceId !== undefined) bindings.push(...ownBindings(props, frame.traceId));
  if (find.isOpen) bindings.push(["Escape", "Close find", () => find.setOpen(false)]);
  return bindings.map(([keys, does, run]) => ({ keys, does, run: () => void run() }));
}

function ownBindings({ list, links, find, copy, share }: Props, traceId: string): Binding[] {
  const follow = (href: string | undefined) => href && goTo(href);
  const copyMessage = async () => {
    const row = currentArticle(list);
    if (!row) return;
    await copy(await fetchRowContent(row, traceId), "Message copied");
    showRowCopied(row);
  };
  return [
    ["f", "Find in the session", () => find.setOpen(true)],
    ["n", "Next match", () => find.step(1)],
    ["N", "Previous match", () => find.step(-1)],
    ["c", "Copy the message", copyMessage],
    ["s", "Share the turn", () => share?.("turn")],
    ["S", "Share from here on", () => share?.("from")],
    ["u", "Back to the list", () => follow(links.list)],
    ["[", "Newer session of the list", () => follow(links.newer?.href)],
    ["]", "Older session of the list", () => follow(links.older?.href)],
  ];
}

function toTurn({ frame, list, say }: Props, by: 1 | -1): void {
  const outline = frame.outline.get();
  const position = outline && stepTurn(outline.turns, currentPosition(list), by);
  if (!outline) say("The outline is still loading; try again in a moment");
  if (position !== undefined) frame.jump(position);
}

/** Opening hundreds of unloaded folds would flood the server. */
function toggleAllFolds({ list, remeasure, say }: Props): void {
  const folds = [...(list.current?.querySelectorAll("details") ?? [])];
  const open = folds.some((fold) => !fold.open && !fold.dataset.load);
  holdInPlace(currentRow(list), () => {
    for (const fold of folds) fold.open = open && (fold.open || !fold.dataset.load);
    remeasure();
  });
  say(open ? "All folds are open" : "All folds are closed");
}

const currentRow = (list: RefObject<HTMLElement | null>) =>
  currentArticle(list)?.closest<HTMLElement>("article[data-position]") ?? undefined;

function move(list: RefObject<HTMLElement | null>, by: 1 | -1): void {
  const articles = list.current ? openArticles(list.current) : [];
  const current = currentArticle(list);
  const index = current ? articles.indexOf(current) : -1;
  const startsInView = current && current.getBoundingClientRect().top >= topOffset() - 2;
  const isFocused = current === document.activeElement;
  // The first step goes to the row at the top itself, unless it is already in place.
  const stays = !isFocused && (by === 1 ? startsInView : !startsInView);
  const next = articles[stays ? index : index + by];
  if (!next) return;
  scrollToRow(next);
  flash(next);
}

function toggleFolds(article: HTMLElement | undefined): void {
  const folds = [...(article?.querySelectorAll("details") ?? [])];
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
}

export type Share = (what: "turn" | "from") => void;

/** @returns undefined for another's session */
export function sharing({ traceId, outline }: Frame, list: RefObject<HTMLElement | null>): Share | undefined {
  if (traceId === undefined) return undefined;
  return (what) => {
    const position = currentPosition(list);
    const turns = outline.get()?.turns ?? [];
    const turn = turns[turnAt(turns, position)];
    const isTurn = what === "turn" && turn !== undefined;
    goTo(shareHref(traceId, isTurn ? { turn: turn.position } : { from: position }));
  };
}
