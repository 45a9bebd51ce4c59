"use client";
import { useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useRef, useTransition } from "react";

const everyMs = 30_000;

/**
 * Has the server render the session's facts and its outline again where its end has grown: at once, and once more when its sums are
 * likely to be counted; every half minute at most. @param end the last position, where the end is on the page
 */
export function useFreshFacts(end: number | undefined): void {
  const router = useRouter();
  const [isRefreshing, start] = useTransition();
  usePlaceKept(isRefreshing);
  const known = useRef({ end, at: Number.NEGATIVE_INFINITY });
  useEffect(() => {
    const before = known.current.end;
    if (end === undefined) return;
    known.current.end = Math.max(end, before ?? end);
    if (before === undefined || end <= before) return;
    const refresh = () => {
      known.current.at = Date.now();
      start(() => router.refresh());
    };
    if (Date.now() - known.current.at >= everyMs) refresh();
    const timer = setTimeout(refresh, everyMs);
    return () => clearTimeout(timer);
  }, [end, router]);
}

/** Keeps the place on the page when a refresh ends: Next scrolls to the top where the address was changed since it was rendered. */
function usePlaceKept(isRefreshing: boolean): void {
  const wasRefreshing = useRef(false);
  const place = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    place.current = wasRefreshing.current && !isRefreshing ? window.scrollY : undefined;
    wasRefreshing.current = isRefreshing;
  }, [isRefreshing]);
  useEffect(() => {
    const { current: top } = place;
    if (!isRefreshing && top !== undefined && window.scrollY !== top) window.scrollTo({ top, behavior: "instant" });
  }, [isRefreshing]);
}
