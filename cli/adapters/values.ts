// Reads values that an agent's file may or may not hold.

/** A non-empty string, else undefined. */
export const asString = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A non-negative safe integer, else undefined. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const timestamp = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Nearly all of them, whose parts need no look at the calendar. */
const plainTimestamp =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
/** The first millisecond of the year 10000. */
const maxMilliseconds = 253_402_300_800_000;

/** ISO 8601 with an offset or Z, from such a text or milliseconds since 1970; undefined for anything else. */
export function asTimestamp(value: unknown): string | undefined {
  if (typeof value === "string" && plainTimestamp.test(value)) return value;
  if (typeof value === "string" && timestamp.test(value) && !Number.isNaN(Date.parse(value))) return value;
  if (typeof value === "number" && value > 0 && value < maxMilliseconds) return new Date(value).toISOString();
  return undefined;
}

/** Where agents put the worktrees of a repository: in it, or in a folder of the user's with its name. */
const worktrees = [
  /[/\\]\.(?:claude[/\\])?worktrees[/\\].*$/is,
  /(?<=[/\\]\.cursor[/\\]worktrees[/\\][^/\\]+)[/\\].*$/is,
];

/** A project's name: the last part of its folder's path, on any system; of an agent's worktree that of its repository. */
export function projectName(cwd: string | undefined): string | undefined {
  const isWorktree = cwd !== undefined && /worktrees/i.test(cwd);
  const folder = isWorktree ? worktrees.reduce((path, place) => path.replace(place, ""), cwd) : cwd;
  const name = folder
    ?.split(/[/\\]+/)
    .filter(Boolean)
    .at(-1);
  return name && !/^[A-Za-z]:$/.test(name) ? truncate(truncate(name, 1024).normalize("NFC"), 256) : undefined;
}

/** Cuts a text to at most `max` UTF-16 units, without splitting a surrogate pair. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
