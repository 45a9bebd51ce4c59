"use client";
import { startTransition, useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "react";
import { articleAt, articleNear, type Edge, flash, openFoldsRound, scrollToEdge, scrollToRow } from "../frame/geometry";
import { changeSegments, firstSegments, type PlacedSegment, type SegmentChange, segmentAt } from "./list";
import { loadAgain, loadInto, nextStep } from "./next-step";
import type { Segment } from "./render";
import type { SegmentRequest } from "./request";
import type { Supply } from "./supply";
import { useLoader } from "./use-loader";

/**
 * A message to bring to the top; `offset` in pixels for another place, `quiet` without focus and mark, `near` where the row
 * beside it does as well. Or an end of the session.
 */
export type Target = { position: number; offset?: number; quiet?: boolean; near?: boolean } | { edge: Edge };

type Props = { supply: Supply; talk: boolean; initial: Segment; onHidden: () => void };

/**
 * The segments of messages on the page: loads neighbours before the reader comes to them, one at a time, empties the farthest
 * where there are many, and jumps.
 */
export function useSegments({ supply, talk, initial, onHidden }: Props) {
  const [segments, dispatch] = useReducer(changeSegments, initial, firstSegments);
  const current = useRef(segments);
  const { elements, register } = useElements();
  const lastChange = useRef<SegmentChange["type"]>(undefined);
  const target = useRef<Target>(undefined);

  const change = useCallback((next: SegmentChange) => {
    lastChange.current = next.type;
    startTransition(() => dispatch(next));
  }, []);
  const { loading, failed, fail, load } = useLoader({ supply, talk, change, onHidden });

  const advance = useCallback(() => {
    if (loading.current.busy) return;
    const step = nextStep(current.current, elements.current, loading.current.failed);
    if (!step) return;
    loading.current.busy = true;
    if ("place" in step) load(step);
    else change(step);
  }, [loading, elements, load, change]);

  const jump = useCallback(
    async (wanted: Target) => {
      const covering = coveringOf(current.current, wanted);
      if (covering?.markup && arriveAt(wanted, true)) return;
      target.current = wanted;
      if (covering && covering.markup === null) return load(loadInto(covering, "jump"));
      await load({
        place: "jump",
        request: requestFor(wanted),
        isNear: "edge" in wanted || wanted.near,
        toChange: (segment) => (segment ? { type: "reset", segment } : { type: "later", segment }),
      });
    },
    [load],
  );

  /** Loads the last segment again, which has grown, and stays at the end of the session unless the reader left it meanwhile. */
  const follow = useCallback(
    async (isStill: () => boolean) => {
      const last = current.current.at(-1);
      if (!last?.markup || last.later || loading.current.busy) return;
      await load(
        loadAgain(last, () => {
          if (isStill()) target.current = { edge: "end" };
        }),
      );
    },
    [load, loading],
  );

  useLayoutEffect(() => {
    current.current = segments;
    loading.current.busy = false;
    const [first] = segments;
    if (lastChange.current === "earlier" && first && !anchorsByItself())
      window.scrollBy({
        top: elements.current.get(first.key)?.getBoundingClientRect().height ?? 0,
        behavior: "instant",
      });
    lastChange.current = undefined;
    const wanted = target.current;
    if (wanted && arriveAt(wanted, coveringOf(segments, wanted)?.markup)) target.current = undefined;
    const frame = requestAnimationFrame(advance);
    return () => cancelAnimationFrame(frame);
  }, [segments, elements, advance, loading]);

  useOnScroll(advance);

  const retry = useCallback(() => {
    const place = loading.current.failed;
    fail(undefined);
    if (place === "jump" && target.current) jump(target.current);
    else advance();
  }, [loading, fail, advance, jump]);

  const lose = useCallback((key: number) => change({ type: "empty", key, height: 0 }), [change]);

  return { segments, failed, retry, jump, follow, register, lose };
}

/** The segments' elements by their keys, and what notes one of them and returns how to forget it. */
function useElements() {
  const elements = useRef(new Map<number, HTMLElement>());
  const register = useCallback((key: number, element: HTMLElement) => {
    elements.current.set(key, element);
    return () => {
      if (elements.current.get(key) === element) elements.current.delete(key);
    };
  }, []);
  return { elements, register };
}

/** The last segment there is. */
const afterAll = 2_147_483_647;

const requestFor = (wanted: Target): SegmentRequest => {
  if ("position" in wanted) return { at: wanted.position };
  return wanted.edge === "start" ? {} : { before: afterAll };
};

/** The segment on the page that has what is wanted, whether or not its messages are mounted. */
function coveringOf(list: PlacedSegment[], wanted: Target): PlacedSegment | undefined {
  if ("position" in wanted) return segmentAt(list, wanted.position);
  const outer = wanted.edge === "start" ? list[0] : list.at(-1);
  return outer && !(wanted.edge === "start" ? outer.earlier : outer.later) ? outer : undefined;
}

/** Brings a message to the top, or an end into view. @returns whether it is on the page. @param isMounted whether it has to be */
function arriveAt(wanted: Target, isMounted: unknown): boolean {
  if ("edge" in wanted) {
    if (isMounted) scrollToEdge(wanted.edge);
    return Boolean(isMounted);
  }
  const { position, offset, quiet, near } = wanted;
  const row = near && isMounted ? articleNear(position) : articleAt(position);
  if (!row) return false;
  openFoldsRound(row);
  scrollToRow(row, offset);
  if (!quiet) flash(row);
  return true;
}

/** Whether the browser keeps visible content in place (scroll anchoring). No browser does at the very top of a page. */
const anchorsByItself = () => CSS.supports("overflow-anchor", "auto") && window.scrollY > 0;

/** Runs something when the page was scrolled or resized, once a frame. */
function useOnScroll(run: () => void) {
  useEffect(() => {
    let frame = 0;
    const schedule = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(run);
    };
    window.addEventListener("scroll", schedule, { passive: true });
    window.addEventListener("resize", schedule);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", schedule);
      window.removeEventListener("resize", schedule);
    };
  }, [run]);
}
