import "server-only";
import { makeOutliner, type Outline } from "#lib/reader/outline";
import { readMessages } from "#lib/traces/messages";
import { OutlineRail } from "./outline";

const page = { limit: 1000, maxBytes: 1024 * 1024 };

/** The outline of the whole session, whatever of it is loaded. It is streamed behind the messages. */
export async function OutlineData({ userId, traceId }: { userId: string; traceId: string }) {
  return <OutlineRail outline={await readOutline(userId, traceId)} />;
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
