import "server-only";
import { makeOutliner, type Outline } from "#lib/reader/outline";
import { readMessages } from "#lib/traces/messages";
import { OutlineRail } from "./outline";

const page = { limit: 1000, maxBytes: 1024 * 1024 };

/**
 * The outline of the whole session, whatever of it is loaded. It is streamed behind the messages, to the end of the page, from
 * where a script brings it to its place; without one a style sheet shows it where it is (app/styles/reader.css).
 */
export async function OutlineData({ userId, traceId }: { userId: string; traceId: string }) {
  return (
    <div id="outline" data-outline="">
      <OutlineRail outline={await readOutline(userId, traceId)} />
    </div>
  );
}

/** What stands in the outline's place until it has come. */
export function OutlineToCome() {
  return <p className="p-3 text-code text-muted noscript:hidden">Reading the outline…</p>;
}

async function readOutline(userId: string, traceId: string): Promise<Outline> {
  const outliner = makeOutliner();
  for (let after: number | null = -1; after !== null; ) {
    const read: Awaited<ReturnType<typeof readMessages>> = await readMessages(userId, traceId, after, page);
    for (const message of read.messages) outliner.add(message);
    after = read.nextAfter;
  }
  return outliner.result();
}
