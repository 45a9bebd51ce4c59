"use client";
import { useEffect } from "react";
import type { Frame } from "./frame";
import { positionOf, topOffset } from "./geometry";

/** Passes the bars' height to the style sheet, so that the browser's own scrolling stops at the same place as a jump. */
export function useBars() {
  useEffect(() => {
    const measure = () => document.documentElement.style.setProperty("--bars", `${topOffset()}px`);
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
}

const restMs = 400;

/** Follows the scrolling: the message at the top, for the outline, and the scroll position, for going back. */
export function useFollow({ top }: Frame, noteAnchor: () => Element | undefined, save: () => void) {
  useEffect(() => {
    let frame = 0;
    let rest = 0;
    const follow = () => {
      const row = noteAnchor();
      if (row) top.set(positionOf(row));
    };
    const onScroll = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(follow);
      clearTimeout(rest);
      rest = window.setTimeout(save, restMs);
    };
    follow();
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      window.removeEventListener("scroll", onScroll);
    };
  }, [top, noteAnchor, save]);
}
