import { formatCount } from "../../components/figures";

/** Up to here the list counts what a filter matches; more takes too long. */
export const maxCounted = 10_000;
/** And the hits of a search, each of which has to be looked up. */
export const maxFound = 1000;

/** "1 session", "212 sessions", "10,000+ sessions". */
export function sessionsOf(count: number, max = maxCounted): string {
  if (count > max) return `${formatCount(max)}+ sessions`;
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}
