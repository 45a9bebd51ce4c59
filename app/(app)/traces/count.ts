import { formatCount } from "../../components/figures";

/** Counting more matches takes too long. */
export const maxCounted = 10_000;
/** Lower, since a search checks its hits one by one. */
export const maxFound = 1000;

/** "1 session", "212 sessions", "10,000+ sessions" */
export function formatSessionCount(count: number, max = maxCounted): string {
  if (count > max) return `${formatCount(max)}+ sessions`;
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}
