import type { Dirent } from "node:fs";
import { lstat, opendir, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Input } from "../adapters/adapter.ts";
import { currentSearch, isAtOrBelow } from "./search.ts";

const missing = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
const forbidden = new Set(["EACCES", "EPERM"]);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** Whether an error is the file system's. */
export const isOfFileSystem = (error: unknown): boolean => /^E[A-Z0-9]+$|^UNKNOWN$/.test(codeOf(error));

/** Whether a file system error says that a path does not exist or may not be read. */
export const isMissingOrForbidden = (error: unknown): boolean => missing.has(codeOf(error)) || isForbidden(error);

/** Whether a file system error says that a path may not be read. */
export const isForbidden = (error: unknown): boolean => forbidden.has(codeOf(error));

/** A file as an adapter's input; undefined where it is missing, forbidden or no file. */
export async function statInput(path: string): Promise<Input | undefined> {
  currentSearch()?.noteFile(path);
  return statFile(path);
}

async function statFile(path: string): Promise<Input | undefined> {
  try {
    return await statOf(path);
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

async function statOf(path: string): Promise<Input | undefined> {
  const found = await stat(path);
  if (!found.isFile()) return undefined;
  const stamp = `${found.size}:${found.mtimeMs}:${found.ino}`;
  return { path, bytes: found.size, modifiedAt: found.mtimeMs, stamp };
}

/** What can't be read, as an input: reading it fails, which reports it. Nothing else is kept from being found. */
const unreadable = (path: string): Input => ({ path, bytes: 0, modifiedAt: Date.now(), stamp: "forbidden" });

/** The files among paths; of those that can't be looked at, the first. */
async function filesOf(paths: readonly string[]): Promise<Input[]> {
  let failed: Input | undefined;
  const found = await Promise.all(
    paths.map((path) =>
      statOf(path).catch((error) => {
        if (!isOfFileSystem(error)) throw error;
        if (!missing.has(codeOf(error))) failed ??= unreadable(path);
        return undefined;
      }),
    ),
  );
  return [...found, failed].filter((input) => input !== undefined);
}

/** Concurrent `stat` calls: most of their time is waiting for the file system. */
const maxConcurrentStats = 64;
const entriesAtOnce = 256;

/**
 * The files below a folder whose names match; none where the folder is missing. Links to folders are not followed, so that
 * circular links end. A folder that can't be read is returned as an input itself: reading it fails, which reports it. A narrow
 * search looks only at what has changed.
 *
 * @param matches takes the file's name without its folder
 */
export async function* findFiles(root: string, matches: (name: string) => boolean): AsyncGenerator<Input> {
  const changed = currentSearch()?.only;
  if (!changed || changed.some((path) => isAtOrBelow(root, path))) return yield* walk(root, matches);
  const folders = new Set<string>();
  const besides = new Set<string>();
  const files: string[] = [];
  for (const path of changed.filter((one) => isAtOrBelow(one, root))) {
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory()) folders.add(path);
    else if (matches(basename(path))) files.push(path);
    else besides.add(dirname(path)); // what stands beside a session may belong to it
  }
  const tops = [...folders].filter((folder) => ![...folders].some((one) => one !== folder && isAtOrBelow(folder, one)));
  const isWalked = (path: string) => tops.some((top) => isAtOrBelow(path, top));
  for (const top of tops) yield* walk(top, matches);
  for (const folder of besides) if (!isWalked(folder)) yield* walk(folder, matches, false);
  for (const path of files) {
    const input = besides.has(dirname(path)) || isWalked(path) ? undefined : await statFile(path);
    if (input) yield input;
  }
}

/** @param isDeep whether subfolders are searched, too */
async function* walk(root: string, matches: (name: string) => boolean, isDeep = true): AsyncGenerator<Input> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    currentSearch()?.walked.add(folder);
    const paths: string[] = [];
    try {
      // One at a time: a folder may have a million other files.
      for await (const entry of await opendir(folder, { bufferSize: entriesAtOnce })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (matches(entry.name)) paths.push(path);
      }
    } catch (error) {
      if (!isOfFileSystem(error)) throw error;
      if (!missing.has(codeOf(error))) yield unreadable(folder);
      continue;
    }
    if (!isDeep) folders.length = 0;
    let hasFailed = false;
    for (let at = 0; at < paths.length; at += maxConcurrentStats) {
      for (const input of await filesOf(paths.slice(at, at + maxConcurrentStats))) {
        if (input.stamp !== "forbidden" || !hasFailed) yield input;
        hasFailed ||= input.stamp === "forbidden";
      }
    }
  }
}

/** A folder's entries; none where it is missing or may not be read. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  currentSearch()?.listed.add(folder);
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissingOrForbidden(error)) return [];
    throw error;
  }
}
