import { formatCount } from "../../components/figures";

/** The maximum of matches that the list counts for a filter; counting more takes too long. */
export const maxCounted = 10_000;
/** The same for a search, whose hits are looked up one by one. */
export const maxFound = 1000;

/** "1 session", "212 sessions", "10,000+ sessions". */
export function formatSessionCount(count: number, max = maxCounted): string {
  if (count > max) return `${formatCount(max)}+ sessions`;
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}
