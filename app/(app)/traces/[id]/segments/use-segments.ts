"use client";
import {
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from "react";
import { articleAt, flash, openFoldsRound, scrollToRow } from "../frame/geometry";
import { type Change, changeSegments, firstSegments, maxMounted, type Shown, segmentAt } from "./list";
import { loadSegment } from "./load";
import type { Segment } from "./render";
import type { WindowRequest } from "./request";

/** How far beyond the visible part windows are kept ready, in screens. */
const screensAhead = 2;
/** And in pixels at least: a quick wheel turns 3,000 in a second, and a window takes half of one on a busy server. */
const minAheadPixels = 3000;

/** Where a loading is or failed: at an edge, or in the box of a window. */
export type Place = "earlier" | "later" | "jump" | number;
export type Target = { position: number; offset?: number; quiet?: boolean };
type Props = {
  traceId: string;
  talk: boolean;
  initial: Segment;
  list: RefObject<HTMLElement | null>;
  /** Is told where a message was jumped to that Talk leaves out. */
  onHidden: () => void;
};

/**
 * The windows of messages on the page: loads neighbours before the reader comes to them, one at a time, empties the farthest
 * where there are many, and jumps.
 */
export function useWindows({ traceId, talk, initial, list, onHidden }: Props) {
  const [shown, dispatch] = useReducer(changeSegments, initial, firstSegments);
  const [failed, setFailed] = useState<Place>();
  const current = useRef(shown);
  const busy = useRef(false);
  const failedAt = useRef<Place>(undefined);
  const target = useRef<Target>(undefined);
  const before = useRef<Change["type"]>(undefined);
  /** Counts jumps to far places: what was asked for before one is not placed behind it. */
  const era = useRef(0);

  const change = useCallback((next: Change) => {
    before.current = next.type;
    startTransition(() => dispatch(next));
  }, []);

  const load = useCallback(
    async (place: Place, request: WindowRequest, place_: (segment: Segment | undefined) => Change) => {
      const asked = era.current;
      busy.current = true;
      try {
        const segment = await loadSegment({ traceId, request, talk });
        if (asked !== era.current) return;
        failedAt.current = undefined;
        setFailed(undefined);
        if (segment?.hidden) onHidden();
        else change(place_(segment));
      } catch {
        if (asked !== era.current) return;
        busy.current = false;
        failedAt.current = place;
        setFailed(place);
      }
    },
    [traceId, talk, change, onHidden],
  );

  const pump = useCallback(() => {
    const place = list.current;
    if (busy.current || !place) return;
    const [first] = current.current;
    const last = current.current.at(-1);
    if (!first || !last) return;
    const reach = Math.max(window.innerHeight * screensAhead, minAheadPixels);
    const farthest = farthestMounted(place, current.current);
    if (farthest) {
      busy.current = true;
      change({ type: "empty", ...farthest });
      return;
    }
    const near = nearestBox(place, reach);
    const box = near === undefined ? undefined : current.current.find(({ key }) => key === near);
    const { top, bottom } = place.getBoundingClientRect();
    const wants = (edge: "earlier" | "later") => failedAt.current !== edge;
    if (box && failedAt.current !== box.key) {
      load(box.key, { from: box.first, to: box.last }, (segment) => ({ type: "fill", key: box.key, segment }));
    } else if (first.earlier && top > -reach && wants("earlier")) {
      load("earlier", { before: first.first }, (segment) => ({ type: "earlier", segment }));
    } else if (last.later && bottom < window.innerHeight + reach && wants("later")) {
      load("later", { after: last.last }, (segment) => ({ type: "later", segment }));
    }
  }, [list, load, change]);

  const arrive = useCallback(({ position, offset, quiet }: Target): boolean => {
    const row = articleAt(position);
    if (!row) return false;
    openFoldsRound(row);
    scrollToRow(row, offset);
    if (!quiet) flash(row);
    return true;
  }, []);

  /** Brings a message to the top, loading its window where that is not in the page. */
  const jump = useCallback(
    async (wanted: Target) => {
      const covered = segmentAt(current.current, wanted.position);
      if (covered?.node && arrive(wanted)) return;
      target.current = wanted;
      era.current += 1;
      const { position } = wanted;
      if (covered && covered.node === null) {
        const request = { from: covered.first, to: covered.last };
        await load("jump", request, (segment) => ({ type: "fill", key: covered.key, segment }));
      } else {
        await load("jump", { at: position }, (segment) =>
          segment ? { type: "reset", segment } : { type: "later", segment },
        );
      }
    },
    [arrive, load],
  );

  useLayoutEffect(() => {
    current.current = shown;
    busy.current = false;
    const [first] = shown;
    if (before.current === "earlier" && first && !anchorsByItself()) addHeightOf(list.current, first);
    before.current = undefined;
    if (target.current && arrive(target.current)) target.current = undefined;
    const frame = requestAnimationFrame(pump);
    return () => cancelAnimationFrame(frame);
  }, [shown, arrive, pump, list]);

  useEffect(() => {
    let asked = 0;
    const ask = () => {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(pump);
    };
    window.addEventListener("scroll", ask, { passive: true });
    window.addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(asked);
      window.removeEventListener("scroll", ask);
      window.removeEventListener("resize", ask);
    };
  }, [pump]);

  const retry = useCallback(() => {
    const was = failedAt.current;
    failedAt.current = undefined;
    setFailed(undefined);
    if (was === "jump" && target.current) jump(target.current);
    else pump();
  }, [pump, jump]);

  /** Tells that there is more behind the last window than there was. */
  const grow = useCallback(() => change({ type: "grown" }), [change]);

  return { shown, failed, retry, jump, grow };
}

/** Whether the browser keeps what is visible in its place. It does so nowhere at the very top of a page. */
const anchorsByItself = () => CSS.supports("overflow-anchor", "auto") && window.scrollY > 0;

function addHeightOf(list: HTMLElement | null, { key }: Shown): void {
  const section = list?.querySelector(`:scope > section[data-key="${key}"]`);
  if (section) window.scrollBy({ top: section.getBoundingClientRect().height, behavior: "instant" });
}

const distance = ({ top, bottom }: DOMRect) => Math.max(top - window.innerHeight, -bottom, 0);

/** The key of the empty box that is nearest to what is visible, if one is within reach. */
function nearestBox(list: Element, reach: number): number | undefined {
  let nearest: { key: number; away: number } | undefined;
  for (const box of list.querySelectorAll(":scope > section[data-box]")) {
    const away = distance(box.getBoundingClientRect());
    if (away <= reach && away < (nearest?.away ?? Number.POSITIVE_INFINITY))
      nearest = { key: Number(box.getAttribute("data-key")), away };
  }
  return nearest?.key;
}

/** The window to empty: the farthest from what is visible, where more are mounted than may be. */
function farthestMounted(list: Element, shown: Shown[]): { key: number; height: number } | undefined {
  if (shown.filter(({ node }) => node !== null).length <= maxMounted) return undefined;
  let farthest: { key: number; height: number; away: number } | undefined;
  for (const section of list.querySelectorAll(":scope > section:not([data-box])")) {
    const rect = section.getBoundingClientRect();
    const away = distance(rect);
    if (away > (farthest?.away ?? 0))
      farthest = { key: Number(section.getAttribute("data-key")), height: rect.height, away };
  }
  return farthest && { key: farthest.key, height: farthest.height };
}
