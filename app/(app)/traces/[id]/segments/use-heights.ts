"use client";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { articleAt, getPosition, topArticle } from "../frame/geometry";

/**
 * Estimated heights of skipped segments would make scrolling jump.
 *
 * @returns `remeasure` is for changes of height out of sight
 */
export function useHeights(list: RefObject<HTMLElement | null>) {
  const observer = useRef<ResizeObserver>(undefined);
  const observed = useRef(new Set<HTMLElement>());
  const width = useRef(0);
  const anchor = useRef<{ position: number; top: number }>(undefined);

  const remeasure = useCallback(() => {
    for (const element of observed.current) element.style.contentVisibility = "visible";
    // The observer reports unchanged sizes only after observing again.
    for (const element of observed.current) {
      observer.current?.unobserve(element);
      observer.current?.observe(element);
    }
  }, []);

  const onResize = useCallback(
    (entries: ResizeObserverEntry[]) => {
      const wide = list.current?.clientWidth ?? 0;
      const isTurned = width.current !== 0 && wide !== width.current;
      width.current = wide;
      if (!isTurned) return entries.forEach(setHeight);
      remeasure();
      const row = anchor.current && articleAt(anchor.current.position);
      if (row && anchor.current)
        window.scrollBy({ top: row.getBoundingClientRect().top - anchor.current.top, behavior: "instant" });
    },
    [list, remeasure],
  );

  useEffect(() => () => observer.current?.disconnect(), []);

  const observe = useCallback(
    (element: HTMLElement) => {
      observer.current ??= new ResizeObserver(onResize);
      observer.current.observe(element);
      observed.current.add(element);
      return () => {
        observer.current?.unobserve(element);
        observed.current.delete(element);
      };
    },
    [onResize],
  );

  const noteAnchor = useCallback(() => {
    const row = list.current ? topArticle(list.current) : undefined;
    anchor.current = row && { position: getPosition(row), top: row.getBoundingClientRect().top };
    return row;
  }, [list]);

  return { observe, remeasure, noteAnchor };
}

function setHeight({ target, borderBoxSize }: ResizeObserverEntry): void {
  const height = borderBoxSize[0]?.blockSize ?? 0;
  if (height === 0) return;
  const { style } = target as HTMLElement;
  style.containIntrinsicBlockSize = `auto ${height}px`;
  style.contentVisibility = "auto";
}
