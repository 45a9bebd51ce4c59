import "server-only";
import { setImmediate } from "node:timers/promises";
import { makeOutliner, type Outline } from "#lib/reader/outline";
import { readMessagesInTurn } from "#lib/traces/messages";
import { OutlineRail } from "./outline";

/** What a larger message did is left out: understanding it takes too long at a stretch. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };
/** How long the outline keeps the process from answering others, in milliseconds. */
const maxBusyMs = 10;

/**
 * The outline of the whole session, however much of it is loaded. It is streamed after the messages to the end of the page,
 * from where a script moves it to its place; without script a style sheet shows it there (app/styles/reader.css).
 */
export async function OutlineData({ userId, traceId }: { userId: string; traceId: string }) {
  return (
    <div id="outline" data-outline="">
      <OutlineRail outline={await readOutline(userId, traceId)} />
    </div>
  );
}

/** The placeholder until the outline is there. */
export function OutlinePending() {
  return <p className="p-3 text-code text-muted noscript:hidden">Reading the outline…</p>;
}

async function readOutline(userId: string, traceId: string): Promise<Outline> {
  const outliner = makeOutliner();
  let since = performance.now();
  for (let after: number | null = -1; after !== null; ) {
    const read: Awaited<ReturnType<typeof readMessagesInTurn>> = await readMessagesInTurn(userId, traceId, after, page);
    for (const message of read.messages) {
      outliner.add(message);
      if (performance.now() - since < maxBusyMs) continue;
      await setImmediate();
      since = performance.now();
    }
    after = read.nextAfter;
  }
  return outliner.result();
}
