"use client";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { leaving } from "../../../../components/shell/navigation";
import { maxPosition } from "../segments/segment-changes";
import { articleAt, type Edge, getPosition, type Target, topArticle } from "./geometry";
import type { View } from "./links";

type Saved = { position: number; offset: number };
type Props = {
  list: React.RefObject<HTMLElement | null>;
  jump: (target: Target) => void;
  at: number | undefined;
  talk: boolean;
  setTalk: (talk: boolean) => void;
};

export function useAddress({ list, jump, at, talk, setTalk }: Props) {
  const start = useRef(at);
  const first = useRef(true);
  const shown = useRef(talk);
  const isArrived = useFirstArrival(jump);

  useLayoutEffect(() => {
    if (shown.current === talk) return;
    shown.current = talk;
    const place = getEntryPlace();
    jump(place ? { ...place, near: true } : { edge: "start" });
  }, [talk, jump]);

  useEffect(() => {
    history.scrollRestoration = "manual";
    const arrive = () => {
      const place = getEntryPlace();
      if (place) jump(place);
    };
    const come = () => {
      const view = isTalkEntry();
      if (view === talk) arrive();
      else setTalk(view);
    };
    const isAsked = savedPlace() || start.current !== undefined || /^#m\d+$/.test(location.hash);
    if (first.current && !isArrived.current && isAsked) arrive();
    first.current = false;
    window.addEventListener("popstate", come);
    window.addEventListener("hashchange", come);
    return () => {
      history.scrollRestoration = "auto";
      window.removeEventListener("popstate", come);
      window.removeEventListener("hashchange", come);
    };
  }, [jump, talk, setTalk, isArrived]);

  const save = useCallback(() => {
    const row = list.current && topArticle(list.current);
    if (!row) return;
    const spoor: Saved = { position: getPosition(row), offset: row.getBoundingClientRect().top };
    history.replaceState({ ...history.state, spoor, spoorTalk: talk }, "");
  }, [list, talk]);

  useEffect(() => {
    for (const type of ["beforeunload", leaving]) window.addEventListener(type, save);
    return () => {
      for (const type of ["beforeunload", leaving]) window.removeEventListener(type, save);
    };
  }, [save]);

  const go = useCallback(
    (position: number, near = false) => {
      save();
      enter("at", position);
      jump({ position, near });
    },
    [jump, save],
  );

  const toEdge = useCallback(
    (edge: Edge) => {
      save();
      enter("before", edge === "end" ? maxPosition : undefined);
      jump({ edge });
    },
    [jump, save],
  );

  /** @param href contains the view and the place in it */
  const toView = useCallback(
    (view: View, href: string) => {
      const wanted = view === "talk";
      if (wanted === talk) return;
      save();
      history.pushState({ spoorFolds: history.state?.spoorFolds, spoorTalk: wanted }, "", href);
      setTalk(wanted);
    },
    [talk, setTalk, save],
  );

  return { go, toEdge, toView, save };
}

function useFirstArrival(jump: Props["jump"]): React.RefObject<boolean> {
  const isFirst = useRef(true);
  const isArrived = useRef(false);
  useLayoutEffect(() => {
    const place = isFirst.current ? getEntryPlace() : undefined;
    isFirst.current = false;
    if (!place || !articleAt(place.position)) return;
    isArrived.current = true;
    jump(place);
  }, [jump]);
  return isArrived;
}

function enter(name: "at" | "before", position: number | undefined): void {
  const address = new URL(location.href);
  for (const other of ["at", "before", "after"]) address.searchParams.delete(other);
  if (position !== undefined) address.searchParams.set(name, String(position));
  address.hash = "";
  const { spoorFolds, spoorTalk } = history.state ?? {};
  history.pushState({ spoorFolds, spoorTalk }, "", address);
}

function isTalkEntry(): boolean {
  const { spoorTalk } = history.state ?? {};
  return typeof spoorTalk === "boolean" ? spoorTalk : new URL(location.href).searchParams.get("view") === "talk";
}

function getEntryPlace(): Extract<Target, { position: number }> | undefined {
  const saved = savedPlace();
  if (saved) return { ...saved, quiet: true };
  const position = askedPosition();
  return position === undefined ? undefined : { position };
}

function savedPlace(): Saved | undefined {
  const spoor: unknown = history.state?.spoor;
  return spoor && typeof spoor === "object" && "position" in spoor ? (spoor as Saved) : undefined;
}

/** From the query or `#m{position}`. */
function askedPosition(address = new URL(location.href)): number | undefined {
  const text = /^#m(\d{1,10})$/.exec(address.hash)?.[1] ?? address.searchParams.get("at");
  return text && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

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
