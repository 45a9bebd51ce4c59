import "server-only";
import { isWithin, readHiddenNames, type Sharing } from "#lib/masking/for-others";
import { makeHider } from "#lib/masking/mask-pieces";
import { readMessages } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import type { TraceRow } from "#lib/traces/queries";
import { getShownTitle } from "#lib/transcript/titles/choose-title";
import { type Beginning, beginningCharacters, deriveTitle, kindIn } from "#lib/transcript/titles/derive-title";
import { shortTitle } from "#lib/transcript/titles/short-title";

/** A title that begins later is not found. */
const maxRead = { limit: 50, maxBytes: 64 * 1024, maxMessageBytes: 64 * 1024 };

/** The session's own title may reveal what is left out. */
export async function getTitleForOthers(userId: string, trace: TraceRow, sharing: Sharing): Promise<string> {
  const hide = makeHider(readHiddenNames(trace));
  const mask = (text: string) => (sharing.masked ? hide(text) : text);
  const isPart = sharing.from !== null || sharing.to !== null;
  if (!isPart || trace.customTitle !== null) return mask(getShownTitle(trace) ?? "") || "Untitled session";
  const { messages } = await readMessages(userId, trace.id, (sharing.from ?? 0) - 1, maxRead);
  const shown = messages.filter(({ position }) => isWithin(sharing, position));
  const derived = deriveTitle(listBeginnings(shown, mask))?.title;
  return derived === undefined ? "A part of a session" : shortTitle(derived);
}

/** Masked before the title is cut: half a secret would not be recognized. */
function* listBeginnings(messages: Message[], mask: (text: string) => string): Generator<Beginning> {
  for (const { role, content, metadata } of messages) {
    if (role !== "user" && role !== "assistant") continue;
    yield { role, text: mask(content).slice(0, beginningCharacters[role]), kind: kindIn(metadata) };
  }
}
