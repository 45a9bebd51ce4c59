import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Input } from "../adapters/adapter.ts";

/** What a file system says where something is not there, or is not for us. */
const absent = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"]);

export const isMissingOrForbidden = (error: unknown): boolean =>
  absent.has((error as NodeJS.ErrnoException).code ?? "");

const isForbidden = (error: unknown): boolean =>
  ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");

/** A file as an adapter's input; undefined where it is gone by now. */
export async function statInput(path: string): Promise<Input | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    const stamp = `${found.size}:${found.mtimeMs}:${found.ino}`;
    return { path, bytes: found.size, modifiedAt: found.mtimeMs, stamp };
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

/** How many files are looked at at once: the time goes into waiting for the file system. */
const atOnce = 64;

/**
 * The files below a folder whose names match, none where it is not there. Links to folders are not followed, so that a
 * circle of them ends. A folder that is not for us is an input itself, so that it is named where it is to be read.
 *
 * @param matches takes the file's name without its folders.
 */
export async function* findFiles(root: string, matches: (name: string) => boolean): AsyncGenerator<Input> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries: Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (!isMissingOrForbidden(error)) throw error;
      if (isForbidden(error)) yield { path: folder, bytes: 0, modifiedAt: Date.now(), stamp: "forbidden" };
      continue;
    }
    const paths: string[] = [];
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (matches(entry.name)) paths.push(path);
    }
    for (let at = 0; at < paths.length; at += atOnce) {
      const inputs = await Promise.all(paths.slice(at, at + atOnce).map(statInput));
      for (const input of inputs) if (input) yield input;
    }
  }
}

/** What is in a folder; nothing where it is not there, or not for us. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissingOrForbidden(error)) return [];
    throw error;
  }
}
