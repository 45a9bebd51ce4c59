import "server-only";
import { env } from "#lib/env";

/** What no address of ours has: a control character, or before the query a backslash, or an escaped slash or backslash. */
const foreign = /\p{Cc}|^[^?#]*(?:\\|%2f|%5c)/iu;

/**
 * A path of this site as a browser understands it: resolved against BASE_URL, its dots, also those in escapes, taken away.
 *
 * @returns undefined for anything that leads to another origin, or has a `//` that something behind us could read as one.
 */
export function findLocalPath(path: unknown): string | undefined {
  if (typeof path !== "string" || !path.startsWith("/") || foreign.test(path)) return undefined;
  const base = new URL(env().BASE_URL);
  if (!URL.canParse(path, base)) return undefined;
  const { origin, pathname, search, hash } = new URL(path, base);
  if (origin !== base.origin || pathname.includes("//")) return undefined;
  return `${pathname}${search}${hash}`.replaceAll("\\", "%5C");
}

/** The path of this site to open after signing in; `/` for any other. */
export function localPath(path: string | undefined | null): string {
  return findLocalPath(path) ?? "/";
}
