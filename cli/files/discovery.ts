import { type Dirent, existsSync, opendirSync, readdirSync, type Stats, statSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Input } from "../adapters/adapter.ts";
import { letOthersRun } from "./byte-reader.ts";
import { currentSearch, isAtOrBelow } from "./search.ts";

const missing = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
const forbidden = new Set(["EACCES", "EPERM"]);

const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

export const isFileSystemError = (error: unknown): boolean => /^E[A-Z0-9]+$|^UNKNOWN$/.test(getErrorCode(error));

export const isMissingOrForbidden = (error: unknown): boolean => missing.has(getErrorCode(error)) || isForbidden(error);

export const isForbidden = (error: unknown): boolean => forbidden.has(getErrorCode(error));

export async function statInput(path: string): Promise<Input | undefined> {
  currentSearch()?.noteFile(path);
  return statFile(path);
}

async function statFile(path: string): Promise<Input | undefined> {
  try {
    return makeInput(path, await stat(path));
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

function makeInput(path: string, found: Stats): Input | undefined {
  if (!found.isFile()) return undefined;
  const stamp = `${found.size}:${found.mtimeMs}:${found.ino}`;
  return { path, bytes: found.size, modifiedAt: found.mtimeMs, stamp };
}

/** Reading it fails and reports the path, and the search continues. */
const unreadable = (path: string): Input => ({ path, bytes: 0, modifiedAt: Date.now(), stamp: "forbidden" });

function statFiles(paths: readonly string[]): Input[] {
  const found: Input[] = [];
  let failed: Input | undefined;
  for (const path of paths) {
    try {
      const input = makeInput(path, statSync(path));
      if (input) found.push(input);
    } catch (error) {
      if (!isFileSystemError(error)) throw error;
      if (!missing.has(getErrorCode(error))) failed ??= unreadable(path);
    }
  }
  return failed ? [...found, failed] : found;
}

/** Other tasks may run after this many files; asynchronous `stat` takes four times as long. */
const filesAtOnce = 64;
const entriesAtOnce = 256;

/**
 * Links to folders are not followed, so that circular links end.
 *
 * @param matches takes the file's name without its folder
 */
export async function* findFiles(root: string, matches: (name: string) => boolean): AsyncGenerator<Input> {
  const changed = currentSearch()?.only;
  if (!changed || changed.some((path) => isAtOrBelow(root, path))) return yield* walk(root, matches);
  const folders = new Set<string>();
  const neighbors = new Set<string>();
  const files: string[] = [];
  for (const path of changed.filter((one) => isAtOrBelow(one, root))) {
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory()) folders.add(path);
    else if (matches(basename(path))) files.push(path);
    else neighbors.add(dirname(path));
  }
  const tops = [...folders].filter((folder) => ![...folders].some((one) => one !== folder && isAtOrBelow(folder, one)));
  const isWalked = (path: string) => tops.some((top) => isAtOrBelow(path, top));
  for (const top of tops) yield* walk(top, matches);
  for (const folder of neighbors) if (!isWalked(folder)) yield* walk(folder, matches, false);
  for (const path of files) {
    const input = neighbors.has(dirname(path)) || isWalked(path) ? undefined : await statFile(path);
    if (input) yield input;
  }
}

async function* walk(root: string, matches: (name: string) => boolean, isDeep = true): AsyncGenerator<Input> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    currentSearch()?.walked.add(folder);
    const paths: string[] = [];
    try {
      for (const entry of readEntries(folder)) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (matches(entry.name)) paths.push(path);
      }
    } catch (error) {
      if (!isFileSystemError(error)) throw error;
      if (!missing.has(getErrorCode(error))) yield unreadable(folder);
      continue;
    }
    if (!isDeep) folders.length = 0;
    let hasFailed = false;
    await letOthersRun();
    for (let at = 0; at < paths.length; at += filesAtOnce) {
      if (at > 0) await letOthersRun();
      for (const input of statFiles(paths.slice(at, at + filesAtOnce))) {
        if (input.stamp !== "forbidden" || !hasFailed) yield input;
        hasFailed ||= input.stamp === "forbidden";
      }
    }
  }
}

/**
 * A folder may have a million entries.
 *
 * @throws if it can't be read
 */
function* readEntries(folder: string): Generator<Dirent> {
  const opened = opendirSync(folder, { bufferSize: entriesAtOnce });
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield entry;
  } finally {
    opened.closeSync();
  }
}

/** Returns a folder's entries; none if it is missing or forbidden. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  currentSearch()?.listed.add(folder);
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissingOrForbidden(error)) return [];
    throw error;
  }
}

/** A session in a database has no file of its own and counts as present. */
export const isGone = (path: string): boolean => /\.jsonl?(?:\.zst)?$/.test(path) && !existsSync(path);
