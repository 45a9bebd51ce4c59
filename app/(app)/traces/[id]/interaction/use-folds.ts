"use client";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { foldNamed, getFoldName } from "./fold-names";

const maxRemembered = 1000;

/** @returns a function that restores them in a part of the page */
export function useFolds(list: RefObject<HTMLElement | null>) {
  const remembered = useRef<Map<string, boolean>>(undefined);

  const restore = useCallback((part: HTMLElement | null) => {
    remembered.current ??= new Map(savedFolds());
    if (!part) return;
    for (const [name, open] of remembered.current) {
      const fold = foldNamed(part, name);
      if (fold && fold.open !== open) fold.open = open;
    }
  }, []);

  useEffect(() => {
    const element = list.current;
    if (!element) return;
    let frame = 0;
    const save = () => {
      if (!remembered.current) return;
      const folds = [...remembered.current].slice(-maxRemembered);
      history.replaceState({ ...history.state, spoorFolds: folds }, "");
    };
    // `data-open` marks folds that the server opens.
    const isChanged = (fold: HTMLDetailsElement) => fold.open !== fold.hasAttribute("data-open");
    const onToggle = ({ target }: Pick<Event, "target">) => {
      if (!(target instanceof HTMLDetailsElement) || !target.isConnected) return;
      const name = getFoldName(target);
      if (!name) return;
      remembered.current ??= new Map(savedFolds());
      if (!remembered.current.delete(name) && !isChanged(target)) return;
      if (isChanged(target)) remembered.current.set(name, target.open);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(save);
    };
    element.addEventListener("toggle", onToggle, true);
    // The router drops what was saved before it starts.
    window.addEventListener("beforeunload", save);
    // Folds may have been opened before the script ran.
    for (const target of element.querySelectorAll("details")) if (isChanged(target)) onToggle({ target });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("toggle", onToggle, true);
      window.removeEventListener("beforeunload", save);
    };
  }, [list]);

  return restore;
}

function savedFolds(): [string, boolean][] {
  const folds: unknown = history.state?.spoorFolds;
  return Array.isArray(folds) ? folds.filter((one) => typeof one?.[0] === "string" && typeof one[1] === "boolean") : [];
}
