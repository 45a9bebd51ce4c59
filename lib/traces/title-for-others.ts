import "server-only";
import { titleOf } from "#lib/reader/title";
import { type Beginning, beginningCharacters, deriveTitle, kindIn } from "#lib/reader/titles/find";
import { isWithin, readHiddenNames } from "#lib/traces/for-others";
import { hideAll } from "#lib/traces/masked";
import { readMessages } from "#lib/traces/messages";
import type { Message, TraceRow } from "#lib/traces/queries";
import type { Sharing } from "#lib/traces/shares";

/** So much of a part is read for its title: one that begins later is not found. */
const maxRead = { limit: 50, maxBytes: 64 * 1024, maxMessageBytes: 64 * 1024 };

/**
 * The title under which others see a session, or a part of one: as its owner named it, else the session's own, or one that is
 * derived from the messages of the part, since the session's own may tell of what is left out.
 */
export async function getTitleForOthers(userId: string, trace: TraceRow, sharing: Sharing): Promise<string> {
  const hide = hideAll(readHiddenNames(trace));
  const mask = (text: string) => (sharing.masked ? hide(text) : text);
  const isPart = sharing.from !== null || sharing.to !== null;
  if (!isPart || trace.customTitle !== null) return mask(titleOf(trace) ?? "") || "Untitled session";
  const { messages } = await readMessages(userId, trace.id, (sharing.from ?? 0) - 1, maxRead);
  const shown = messages.filter(({ position }) => isWithin(sharing, position));
  return deriveTitle(beginningsOf(shown, mask))?.title ?? "A part of a session";
}

/** They are masked before the title is cut, where a half of a secret would not be known as one. */
function* beginningsOf(messages: Message[], mask: (text: string) => string): Generator<Beginning> {
  for (const { role, content, metadata } of messages) {
    if (role !== "user" && role !== "assistant") continue;
    yield { role, text: mask(content).slice(0, beginningCharacters[role]), kind: kindIn(metadata) };
  }
}
