import "server-only";
import { env } from "#lib/core/env";

/** Control characters, and before the query a backslash or an escaped slash or backslash. */
const foreign = /\p{Cc}|^[^?#]*(?:\\|%2f|%5c)/iu;

/**
 * Resolves a path as a browser does, against BASE_URL.
 * @returns undefined for another origin, or a `//` that could be read as one
 */
export function findLocalPath(path: unknown): string | undefined {
  if (typeof path !== "string" || !path.startsWith("/") || foreign.test(path)) return undefined;
  const base = new URL(env().BASE_URL);
  if (!URL.canParse(path, base)) return undefined;
  const { origin, pathname, search, hash } = new URL(path, base);
  if (origin !== base.origin || pathname.includes("//")) return undefined;
  return `${pathname}${search}${hash}`.replaceAll("\\", "%5C");
}

export function localPath(path: string | undefined | null): string {
  return findLocalPath(path) ?? "/";
}
