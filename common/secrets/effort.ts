// If a crafted text exceeds its work budget, the rest of the line is masked unread. Ordinary text and files full of
// secrets stay within it.
import type { SecretPlace } from "#common/secrets/detectors/detector";

export const unreadKind = "unread";

/** In units of the time to read ten characters; a close look takes some microseconds. */
export const costs = { glance: 1, attempt: 4, look: 32, chars: (count: number) => (count + 60) / 4 };
const maxEffort = 4000 * costs.look;
/** Some secrets precede the word that identifies them, so masking begins earlier. */
const maskedCharsBefore = 400;

/** All texts share it, since one is searched at a time. */
const state = { text: "", left: maxEffort, readTo: 0, unreadTo: 0, unread: [] as SecretPlace[] };

export function beginEffort(text: string): void {
  state.text = text;
  state.left = maxEffort;
  state.readTo = 0;
  state.unreadTo = 0;
  if (state.unread.length > 0) state.unread = [];
}

export const isUnread = (at: number): boolean => at < state.unreadTo;

export function endEffort(): readonly SecretPlace[] {
  state.text = "";
  return state.unread;
}

/** @returns false if too little was left */
export function spend(cost: number, at: number): boolean {
  state.left = Math.min(maxEffort, state.left + Math.max(0, at - state.readTo));
  state.readTo = Math.max(state.readTo, at);
  if (state.left >= cost) {
    state.left -= cost;
    return true;
  }
  const before = Math.max(state.unreadTo, at - maskedCharsBefore);
  const start = Math.max(before, state.text.slice(before, at).lastIndexOf("\n") + 1 + before);
  const end = findLineEnd(at);
  const last = state.unread.at(-1);
  // There may be millions of neighbouring lines.
  if (last && start <= last.end + 1) last.end = end;
  else state.unread.push({ kind: unreadKind, start, end });
  state.unreadTo = end;
  return false;
}

function findLineEnd(at: number): number {
  for (let from = at; ; ) {
    const end = state.text.indexOf("\n", from);
    if (end < 0) return state.text.length;
    if (!/[:=|>(+-]\s*$/.test(state.text.slice(Math.max(at, end - 16), end))) return end;
    from = end + 1;
  }
}
