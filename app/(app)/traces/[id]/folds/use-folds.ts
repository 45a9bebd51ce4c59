"use client";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { foldNamed, nameOf } from "./fold-names";

/** How many folds are remembered: the last that were touched. */
const maxRemembered = 1000;

/**
 * Remembers which folds the reader opened and closed, in the history's entry and for windows that are emptied and come back.
 *
 * @returns `restore` puts the folds in a part of the page as the reader left them: to be called with what has just come onto it
 */
export function useFolds(list: RefObject<HTMLElement | null>) {
  const left = useRef<Map<string, boolean>>(undefined);

  const restore = useCallback((place: HTMLElement | null) => {
    left.current ??= new Map(savedFolds());
    if (!place) return;
    for (const [name, open] of left.current) {
      const fold = foldNamed(place, name);
      if (fold && fold.open !== open) fold.open = open;
    }
  }, []);

  useEffect(() => {
    const place = list.current;
    if (!place) return;
    let frame = 0;
    const save = () => {
      const folds = [...(left.current ?? [])].slice(-maxRemembered);
      history.replaceState({ ...history.state, spoorFolds: folds }, "");
    };
    const onToggle = ({ target }: Event) => {
      if (!(target instanceof HTMLDetailsElement) || !target.isConnected) return;
      const name = nameOf(target);
      if (!name) return;
      left.current ??= new Map(savedFolds());
      // As the server draws it needs no remembering.
      const isOwn = target.open !== target.hasAttribute("data-open");
      if (!left.current.delete(name) && !isOwn) return;
      if (isOwn) left.current.set(name, target.open);
      // Opening all of them tells of hundreds: one entry a frame.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(save);
    };
    place.addEventListener("toggle", onToggle, true);
    return () => {
      cancelAnimationFrame(frame);
      place.removeEventListener("toggle", onToggle, true);
    };
  }, [list]);

  return restore;
}

function savedFolds(): [string, boolean][] {
  const folds: unknown = history.state?.spoorFolds;
  return Array.isArray(folds) ? folds.filter((one) => typeof one?.[0] === "string" && typeof one[1] === "boolean") : [];
}
