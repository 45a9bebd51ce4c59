import { oncePerProcess } from "#lib/concurrency/once-per-process";
import type { Segment } from "./render";

/**
 * The first messages are in the page's HTML. Passing them here avoids that React sends them again with the page's
 * data.
 */
type Kept = { html: string; timer: ReturnType<typeof setTimeout> };

const waiting = oncePerProcess("messages handed over", () => new Map<string, Kept>());

const max = { entries: 200, milliseconds: 30_000 };

export function handOver(segment: Segment): Segment {
  if (waiting.size >= max.entries) return segment;
  const key = crypto.randomUUID();
  const timer = setTimeout(() => waiting.delete(key), max.milliseconds);
  timer.unref();
  waiting.set(key, { html: segment.markup.__html, timer });
  return { ...segment, markup: { __html: "" }, handedOver: key };
}

export const handedOver = (key: string): string | undefined => waiting.get(key)?.html;
