import type { Trace } from "#lib/traces/queries";
import { formatMilliseconds } from "../messages/clock";

/** "" if only one moment is known. */
export function spanWords({ createdAt, updatedAt, dated }: Pick<Trace, "createdAt" | "updatedAt" | "dated">): string {
  const milliseconds = createdAt && dated ? Date.parse(updatedAt) - Date.parse(createdAt) : 0;
  return milliseconds > 0 ? formatMilliseconds(milliseconds) : "";
}
