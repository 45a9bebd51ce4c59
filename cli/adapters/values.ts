import { type Fields, isFields } from "../files/json.ts";

export const asString = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const asInteger = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

export const asAmount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;

export const asFields = (value: unknown): Fields => (isFields(value) ? value : {});

export const listFields = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

export const joinTexts = (texts: readonly unknown[], separator = "\n"): string =>
  texts.filter(asString).join(separator);

export const toWords = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

const timestamp = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const plainTimestamp =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const millisecondsOfYear10000 = 253_402_300_800_000;

/** Takes ISO 8601 with an offset or Z, or milliseconds since 1970. */
export function asTimestamp(value: unknown): string | undefined {
  if (typeof value === "string" && plainTimestamp.test(value)) return value;
  if (typeof value === "string" && timestamp.test(value) && !Number.isNaN(Date.parse(value))) return value;
  if (typeof value === "number" && value > 0 && value < millisecondsOfYear10000) return new Date(value).toISOString();
  return undefined;
}

export const toMilliseconds = (time: unknown): unknown =>
  typeof time === "number" && time < 100_000_000_000 ? time * 1000 : time;

/** Agents put worktrees into a repository, or into a folder of the user's with its name. */
const worktrees = [
  /[/\\]\.(?:claude[/\\])?worktrees[/\\].*$/is,
  /(?<=[/\\]\.cursor[/\\]worktrees[/\\][^/\\]+)[/\\].*$/is,
];

/** A worktree has the name of its repository. */
export function getProjectName(cwd: string | undefined): string | undefined {
  const isWorktree = cwd !== undefined && /worktrees/i.test(cwd);
  const folder = isWorktree ? worktrees.reduce((path, place) => path.replace(place, ""), cwd) : cwd;
  const name = folder
    ?.split(/[/\\]+/)
    .filter(Boolean)
    .at(-1);
  return name && !/^[A-Za-z]:$/.test(name) ? truncate(truncate(name, 1024).normalize("NFC"), 256) : undefined;
}

/** For example of `file:///C%3A/code`, `vscode-remote://ssh-remote%2Bhost/home/ada`. */
export function parseUriPath(uri: unknown): string | undefined {
  const [, path] = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)$/i.exec(asString(uri) ?? "") ?? [];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path).replace(/^\/([a-z]:)/i, "$1");
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

/** Cuts to at most `max` UTF-16 units, without splitting a surrogate pair. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");

export function dropOldest(entries: Map<string, unknown> | Set<string>, max: number): void {
  if (entries.size > max) entries.delete(entries.keys().next().value ?? "");
}
