import type { UnsentSession } from "./session.ts";

/** What was counted while inputs were read. */
export type ParseStats = {
  inputs: number;
  bytes: number;
  entries: number;
  skipped: number;
  invalid: number;
  sessions: number;
  messages: number;
  /** Types that are not known, and how often each came. */
  unhandled: Record<string, number>;
  /** Sessions and inputs that can't be sent, with the reason. */
  left: UnsentSession[];
};

export const emptyStats = (): ParseStats => ({
  inputs: 0,
  bytes: 0,
  entries: 0,
  skipped: 0,
  invalid: 0,
  sessions: 0,
  messages: 0,
  unhandled: {},
  left: [],
});

/** Adds a tally to another one. */
export function addStats(to: ParseStats, more: ParseStats): void {
  for (const count of ["inputs", "bytes", "entries", "skipped", "invalid", "sessions", "messages"] as const) {
    to[count] += more[count];
  }
  for (const [type, times] of Object.entries(more.unhandled)) countUnhandledType(to, type, times);
  to.left.push(...more.left);
}

const maxTypes = 200;

/** Counts a type that is not known; a file full of them costs no memory without end. */
export function countUnhandledType(tally: ParseStats, type: string, times = 1): void {
  const isNew = !Object.hasOwn(tally.unhandled, type);
  if (isNew && Object.keys(tally.unhandled).length >= maxTypes) return;
  tally.unhandled[type] = (tally.unhandled[type] ?? 0) + times;
}
