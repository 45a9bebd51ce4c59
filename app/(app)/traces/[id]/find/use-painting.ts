"use client";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { articleAt, articlesIn, openFoldsRound, topOffset } from "../frame/geometry";
import { findRanges, paint, unpaint } from "./highlights";
import type { Match } from "./matches";
import type { FindResult } from "./use-search";

export function usePainting(
  list: RefObject<HTMLElement | null>,
  found: FindResult | undefined,
  jump: (position: number) => void,
): RefObject<Range[]> {
  const ranges = useRef<Range[]>([]);
  const awaited = useRef<Match>(undefined);
  const match = found?.match;
  const position = match && found.matches.places[match.place]?.[0];

  const refresh = useCallback(() => {
    if (!list.current || !found) return;
    const { text, match } = found;
    const row = position === undefined ? null : articleAt(position);
    ranges.current = row ? findRanges(row, text) : [];
    const current = match && ranges.current[Math.min(match.within, ranges.current.length - 1)];
    paint(
      articlesNearby(list.current).flatMap((article) => findRanges(article, text)),
      current,
    );
    if (!row || awaited.current !== match) return;
    if (!current) return openUnloaded(row);
    awaited.current = undefined;
    openFoldsRound(getRangeElement(current));
    bringIntoView(current);
  }, [list, found, position]);

  useEffect(() => {
    if (!match || position === undefined) return;
    awaited.current = match;
    if (!articleAt(position)) jump(position);
  }, [match, position, jump]);

  useEffect(() => {
    if (!found || !list.current) return unpaint();
    let timer = 0;
    const schedule = () => {
      clearTimeout(timer);
      timer = window.setTimeout(refresh, 100);
    };
    refresh();
    const watcher = new MutationObserver(schedule);
    watcher.observe(list.current, { childList: true, subtree: true });
    window.addEventListener("scroll", schedule, { passive: true });
    return () => {
      clearTimeout(timer);
      watcher.disconnect();
      window.removeEventListener("scroll", schedule);
      unpaint();
    };
  }, [found, refresh, list]);

  return ranges;
}

function articlesNearby(list: Element): Element[] {
  return [...list.querySelectorAll(":scope > section")]
    .filter((segment) => {
      const { top, bottom } = segment.getBoundingClientRect();
      return bottom > -window.innerHeight && top < 2 * window.innerHeight;
    })
    .flatMap(articlesIn);
}

const getRangeElement = ({ startContainer }: Range): Element =>
  startContainer instanceof Element ? startContainer : (startContainer.parentElement ?? document.body);

function bringIntoView(range: Range): void {
  const place = () => {
    const { top, bottom } = range.getBoundingClientRect();
    if (top >= topOffset() + 48 && bottom <= window.innerHeight - 16) return;
    window.scrollBy({ top: top - window.innerHeight / 3, behavior: "instant" });
  };
  place();
  requestAnimationFrame(() => requestAnimationFrame(place));
}

/** The match may be in a body that loads when its fold opens. */
function openUnloaded(row: Element): void {
  for (const fold of row.querySelectorAll<HTMLDetailsElement>("details[data-load]:not([open])")) {
    openFoldsRound(fold);
    fold.open = true;
  }
}
