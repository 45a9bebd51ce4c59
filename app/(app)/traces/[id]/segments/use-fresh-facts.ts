"use client";
import { useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useRef, useTransition } from "react";

const everyMs = 30_000;

/**
 * The totals are updated a little later, so it refreshes twice.
 *
 * @param end the last position, if the end is loaded
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

/** Next scrolls to the top after a refresh if the address has changed since rendering. */
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
