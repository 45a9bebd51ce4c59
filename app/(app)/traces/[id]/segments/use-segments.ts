"use client";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { isOtherView } from "./list";
import { loadAgain, nextStep } from "./next-step";
import type { Segment } from "./render";
import type { Supply } from "./supply";
import { arriveAt, findCovering } from "./target";
import { useJump } from "./use-jump";
import { useLoader } from "./use-loader";
import { useShown } from "./use-shown";

type Props = { supply: Supply; talk: boolean; initial: Segment; onHidden: () => void };

/** Loads neighbouring segments ahead of the reader, one at a time, and jumps. */
export function useSegments({ supply, talk, initial, onHidden }: Props) {
  const { segments, placed, pending, lastChange, change } = useShown(initial, talk);
  const current = useRef(segments);
  const { elements, register } = useElements();
  const { failedPlace, failed, fail, load } = useLoader({ supply, talk, pending, change, onHidden });

  const advance = useCallback(() => {
    if (!pending.isIdle() || isOtherView(current.current, talk)) return;
    const step = nextStep(current.current, elements.current, failedPlace.current);
    if (!step) return;
    if ("place" in step) load(step);
    else change(step);
  }, [pending, failedPlace, elements, talk, load, change]);

  const { jump, target, missed } = useJump({ current, talk, pending, load, advance, onHidden });

  /** Reloads the last segment after it has grown, and stays at the end unless the reader left it. */
  const follow = useCallback(
    async (isStill: () => boolean) => {
      const last = current.current.at(-1);
      if (!last?.markup || last.later || last.talk !== talk || !pending.isIdle()) return;
      await load(
        loadAgain(last, () => {
          if (isStill()) target.current = { edge: "end" };
        }),
      );
    },
    [load, pending, target, talk],
  );

  useLayoutEffect(() => {
    current.current = segments;
    pending.place(placed);
    const [first] = segments;
    if (lastChange.current === "earlier" && first && !anchorsByItself())
      window.scrollBy({
        top: elements.current.get(first.key)?.getBoundingClientRect().height ?? 0,
        behavior: "instant",
      });
    lastChange.current = undefined;
    const wanted = target.current;
    const isThere = wanted && arriveAt(wanted, findCovering(segments, wanted)?.markup);
    // With no load under way, the target does not exist.
    if (isThere || pending.isIdle()) target.current = undefined;
    const frame = requestAnimationFrame(advance);
    return () => cancelAnimationFrame(frame);
  }, [segments, placed, pending, lastChange, target, elements, advance]);

  useOnScroll(advance);

  const retry = useCallback(() => {
    const place = failedPlace.current;
    fail(undefined);
    if (place === "jump" && missed.current) jump(missed.current);
    else advance();
  }, [failedPlace, fail, advance, jump, missed]);

  const lose = useCallback((key: number) => change({ type: "empty", key, height: 0 }), [change]);

  return { segments, failed, retry, jump, follow, register, lose };
}

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

/** Scroll anchoring, which no browser does at the very top of a page. */
const anchorsByItself = () => CSS.supports("overflow-anchor", "auto") && window.scrollY > 0;

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
