"use client";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { articleAt, positionOf, topArticle } from "../frame/geometry";

/**
 * Lets the browser skip windows of messages that are out of sight, each with the height that it was measured to have, never
 * an estimate: guessed heights make scrolling jump. The heights are set by script, on the elements; the server sends none.
 *
 * @returns `observe` for each window's element; `remeasure` for when much has changed its height out of sight.
 */
export function useMeasured(list: RefObject<HTMLElement | null>) {
  const observer = useRef<ResizeObserver>(undefined);
  const seen = useRef(new Set<HTMLElement>());
  const width = useRef(0);
  /** The row at the top and where it stood, as of the last frame that scrolled. */
  const anchor = useRef<{ position: number; top: number }>(undefined);

  const remeasure = useCallback(() => {
    for (const section of seen.current) section.style.contentVisibility = "visible";
    // What was visible already and keeps its size is not reported again, so all of them are asked for.
    for (const section of seen.current) {
      observer.current?.unobserve(section);
      observer.current?.observe(section);
    }
  }, []);

  const makeObserver = useCallback(
    () =>
      new ResizeObserver((entries) => {
        const wide = list.current?.clientWidth ?? 0;
        const turned = width.current !== 0 && wide !== width.current;
        width.current = wide;
        for (const { target, borderBoxSize } of entries) {
          const { style } = target as HTMLElement;
          const height = borderBoxSize[0]?.blockSize ?? 0;
          if (turned || height === 0) continue;
          style.containIntrinsicBlockSize = `auto ${height}px`;
          style.contentVisibility = "auto";
        }
        if (!turned) return;
        remeasure();
        const row = anchor.current && articleAt(anchor.current.position);
        if (row && anchor.current)
          window.scrollBy({ top: row.getBoundingClientRect().top - anchor.current.top, behavior: "instant" });
      }),
    [list, remeasure],
  );

  useEffect(() => () => observer.current?.disconnect(), []);

  const observe = useCallback(
    (section: HTMLElement | null) => {
      if (!section) return undefined;
      observer.current ??= makeObserver();
      observer.current.observe(section);
      seen.current.add(section);
      return () => {
        observer.current?.unobserve(section);
        seen.current.delete(section);
      };
    },
    [makeObserver],
  );

  /** Notes where the page stands. @returns the row at the top */
  const noteAnchor = useCallback(() => {
    const row = list.current ? topArticle(list.current) : undefined;
    anchor.current = row && { position: positionOf(row), top: row.getBoundingClientRect().top };
    return row;
  }, [list]);

  return { observe, remeasure, noteAnchor };
}
