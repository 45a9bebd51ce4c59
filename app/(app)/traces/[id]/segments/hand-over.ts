import { oncePerProcess } from "#lib/concurrency/once-per-process";
import type { Segment } from "./render";

/**
 * A page's first messages are in its HTML; React would send them once more with the data of the page, for the script that then finds
 * them in place. They are handed over here instead, from where the page is made to where its HTML is written: both are in one process.
 */
type Kept = { html: string; timer: ReturnType<typeof setTimeout> };

const waiting = oncePerProcess("messages handed over", () => new Map<string, Kept>());

/** What may wait to be written. Beyond it the messages are sent twice. */
const max = { entries: 200, milliseconds: 30_000 };

/** Takes the HTML out of a segment that is about to be written into a page. */
export function handOver(segment: Segment): Segment {
  if (waiting.size >= max.entries) return segment;
  const key = crypto.randomUUID();
  const timer = setTimeout(() => waiting.delete(key), max.milliseconds);
  timer.unref();
  waiting.set(key, { html: segment.markup.__html, timer });
  return { ...segment, markup: { __html: "" }, handedOver: key };
}

/** What was handed over. It stays for its time: React may write a part of a page again. In the browser there is none. */
export const handedOver = (key: string): string | undefined => waiting.get(key)?.html;
