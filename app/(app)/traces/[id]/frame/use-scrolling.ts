"use client";
import { useEffect } from "react";
import type { Frame } from "./frame";
import { positionOf, topOffset } from "./geometry";

/** Tells the style sheet how high the bars are, so that what the browser itself scrolls to stands where a jump puts it. */
export function useBars() {
  useEffect(() => {
    const measure = () => document.documentElement.style.setProperty("--bars", `${topOffset()}px`);
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
}

const restMs = 400;

/** Follows the scrolling: what is at the top, for the outline, and where the page stands, for going back. */
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
