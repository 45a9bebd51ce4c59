import { formatCount } from "../../components/figures";

/** Up to here the list counts what a filter matches; more takes too long for every page. */
export const mostCounted = 10_000;

/** "1 session", "212 sessions", "10,000+ sessions". */
export function sessionsOf(count: number): string {
  if (count > mostCounted) return `${formatCount(mostCounted)}+ sessions`;
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}
