import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { findFiles, isForbidden, isMissingOrForbidden, listFolder } from "../../files/discovery.ts";
import type { Input } from "../adapter.ts";

/** A workflow's journal is not a session. */
export const isSession = (name: string): boolean => name.endsWith(".jsonl") && name !== "journal.jsonl";

/** Links may reach a folder in several ways, but it is searched once. */
export async function* findSessions(
  roots: readonly { path: string }[],
  matches: (name: string) => boolean = isSession,
): AsyncGenerator<Input> {
  const searched: string[] = [];
  const links: string[] = [];
  for (const { path } of roots) {
    const real = await resolveLinks(path);
    if (real !== undefined && searched.some((other) => isWithin(real, other))) continue;
    if (real !== undefined) searched.push(real);
    yield* findFiles(path, matches);
    for (const entry of await listFolder(path)) if (entry.isSymbolicLink()) links.push(join(path, entry.name));
  }
  for (const path of links) {
    const real = await resolveFolder(path);
    // A link to a folder above would lead back here, and into everything else.
    if (real === undefined || searched.some((other) => isWithin(real, other) || isWithin(other, real))) continue;
    searched.push(real);
    yield* findFiles(path, matches);
  }
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

async function resolveLinks(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

async function resolveFolder(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? await realpath(path) : undefined;
  } catch (error) {
    // Searching the folder reports it.
    if (isForbidden(error)) return path;
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
