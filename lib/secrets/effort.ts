// How much work a text may take: so much at once, and more with each character of it. Ordinary text, and files full of secrets, never
// need more. Where a text does, the rest of that line is not read, and is masked as a whole: no text has a part that nobody looked at.
import type { SecretPlace } from "#lib/secrets/shape";

/** The kind of a line that was not read. */
export const unreadKind = "unread";

/** What steps take, in the time in which a character is read ten times: a close look takes some microseconds. */
export const costs = { glance: 1, attempt: 4, look: 32, chars: (count: number) => (count + 60) / 4 };
/** Enough for 4,000 looks at once; the refill is one look for every 32 characters. */
const atOnce = 4000 * costs.look;
/** The masked part of a long line begins this far before the place, since some secrets stand before the word that tells of them. */
const charsBefore = 400;

/** What is left, and what was not read. One for all texts, as the reading of them is. */
const state = { text: "", left: atOnce, readTo: 0, unreadTo: 0, unread: [] as SecretPlace[] };

export function beginEffort(text: string): void {
  state.text = text;
  state.left = atOnce;
  state.readTo = 0;
  state.unreadTo = 0;
  if (state.unread.length > 0) state.unread = [];
}

/** Whether a place is in a line that is not read. */
export const isUnread = (at: number): boolean => at < state.unreadTo;

/** @returns the places that were not read, in their order */
export function endEffort(): readonly SecretPlace[] {
  state.text = "";
  return state.unread;
}

/** Takes what a step costs at a place. @returns whether that was left; where not, the rest of the line is not read. */
export function spend(cost: number, at: number): boolean {
  state.left = Math.min(atOnce, state.left + Math.max(0, at - state.readTo));
  state.readTo = Math.max(state.readTo, at);
  if (state.left >= cost) {
    state.left -= cost;
    return true;
  }
  const before = Math.max(state.unreadTo, at - charsBefore);
  const start = Math.max(before, state.text.slice(before, at).lastIndexOf("\n") + 1 + before);
  const end = endOfLine(at);
  const last = state.unread.at(-1);
  // Of neighbouring lines, of which there may be millions, one place is made.
  if (last && start <= last.end + 1) last.end = end;
  else state.unread.push({ kind: unreadKind, start, end });
  state.unreadTo = end;
  return false;
}

/** The end of the line; of the next one, too, where a value may stand there. */
function endOfLine(at: number): number {
  for (let from = at; ; ) {
    const end = state.text.indexOf("\n", from);
    if (end < 0) return state.text.length;
    if (!/[:=|>(+-]\s*$/.test(state.text.slice(Math.max(at, end - 16), end))) return end;
    from = end + 1;
  }
}
