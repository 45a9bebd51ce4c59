import { expect } from "vitest";
import { ingestTrace } from "#lib/ingest/schema";
import type { Message } from "../../cli/adapters/adapter.ts";
import type { Parsed } from "./home.ts";

/** A session that the server would not take is one that a push leaves behind. */
export function expectSendable({ sessions }: Parsed): void {
  for (const { source, sourceId, messages, ending } of sessions) {
    // A file of sessions is sent as it is: the server says what is wrong with it.
    if (source === "own") continue;
    const placed = messages.map((message: Message, position) => ({ position, ...message }));
    const { success, error } = ingestTrace.safeParse({ source, sourceId, ...ending, messages: placed });
    expect([success, error?.issues]).toEqual([true, undefined]);
  }
}
