import type { UnsentSession } from "./session.ts";

export type ParseStats = {
  inputs: number;
  bytes: number;
  entries: number;
  skipped: number;
  invalid: number;
  /** The first invalid entries, as `FILE:LINE: REASON`. */
  invalidSamples: string[];
  sessions: number;
  messages: number;
  unhandled: Record<string, number>;
  left: UnsentSession[];
};

export const emptyStats = (): ParseStats => ({
  inputs: 0,
  bytes: 0,
  entries: 0,
  skipped: 0,
  invalid: 0,
  invalidSamples: [],
  sessions: 0,
  messages: 0,
  unhandled: {},
  left: [],
});

export function addStats(total: ParseStats, more: ParseStats): void {
  for (const count of ["inputs", "bytes", "entries", "skipped", "sessions", "messages"] as const) {
    total[count] += more[count];
  }
  addInvalid(total, more);
  for (const [type, times] of Object.entries(more.unhandled)) countUnhandledType(total, type, times);
  total.left.push(...more.left);
}

export type InvalidEntries = Pick<ParseStats, "invalid" | "invalidSamples">;

const maxInvalidSamples = 5;

export function countInvalid(stats: InvalidEntries, describe: () => string): void {
  stats.invalid++;
  if (stats.invalidSamples.length < maxInvalidSamples) stats.invalidSamples.push(describe());
}

export function addInvalid(total: InvalidEntries, more: InvalidEntries): void {
  total.invalid += more.invalid;
  total.invalidSamples.push(...more.invalidSamples.slice(0, maxInvalidSamples - total.invalidSamples.length));
}

const maxTypes = 200;

export function countUnhandledType(stats: ParseStats, type: string, times = 1): void {
  const isNew = !Object.hasOwn(stats.unhandled, type);
  if (isNew && Object.keys(stats.unhandled).length >= maxTypes) return;
  stats.unhandled[type] = (isNew ? 0 : (stats.unhandled[type] ?? 0)) + times;
}

export type PictureBytes = Record<string, number>;

export function countPictures(parts: Iterable<PictureBytes>): { pictures: number; pictureBytes: number } {
  const sizes = Object.values(Object.assign({}, ...parts) as PictureBytes);
  return { pictures: sizes.length, pictureBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}
