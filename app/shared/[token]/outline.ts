import "server-only";
import type { LRUCache } from "lru-cache";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import type { OpenedShare } from "#lib/shares/shares";
import { readOutlineForOthers } from "#lib/traces/outline";
import type { Outline } from "#lib/transcript/outline";
import { makeRecentCache } from "../../(app)/traces/[id]/drawing/draw";

type Known = { outline: Outline | undefined };

/** Concurrent and recent readers of a link share one outline. */
type Outlines = { running: Map<string, Promise<Known>>; recent: LRUCache<string, Known> };

const recentBytes = 16 * 1024 * 1024;

const outlines = oncePerProcess(
  "shared outlines",
  (): Outlines => ({ running: new Map(), recent: makeRecentCache(recentBytes) }),
);

export async function sharedOutline({ userId, traceId, version, shown }: OpenedShare): Promise<Outline | undefined> {
  const { running, recent } = outlines;
  const { from, to, masked } = shown;
  const key = [userId, traceId, version, from, to, masked].join(" ");
  for (;;) {
    const known = recent.get(key);
    if (known) return known.outline;
    let reading = running.get(key);
    if (!reading) {
      reading = readOutlineForOthers(userId, traceId, shown)
        .then((outline) => remember(key, { outline }))
        .finally(() => running.delete(key));
      running.set(key, reading);
    }
    try {
      return (await reading).outline;
    } catch (error) {
      // The first reader has left, so the next one reads again.
      const isGone = error instanceof Error && error.name === "AbortError";
      if (!isGone || requestSignal()?.aborted !== false) throw error;
    }
  }
}

function remember(key: string, known: Known): Known {
  outlines.recent.set(key, known, { size: 2 * JSON.stringify(known).length });
  return known;
}
