import { dirname, isAbsolute, join, resolve } from "node:path";
import { readFileNow } from "../files/byte-reader.ts";

const maxBytes = 4096;
const maxDepth = 16;
const maxKnown = 1000;

const known = new Map<string, string | undefined>();

/** Windows would sign in to the computer of a shared path, so it is not looked up. */
const isOnShare = (path: string): boolean => /^[\\/]{2}/.test(path);

/** The Git folder is `REPO/.git/worktrees/NAME`. */
export function findGitDir(folder: string): string | undefined {
  if (!isAbsolute(folder) || isOnShare(folder)) return undefined;
  if (!known.has(folder)) {
    if (known.size >= maxKnown) known.clear();
    known.set(folder, searchGitDir(folder));
  }
  return known.get(folder);
}

export function findRepository(folder: string): string | undefined {
  const gitDir = findGitDir(folder);
  return gitDir && (/^(.+?)[/\\]\.git[/\\]/.exec(gitDir)?.[1] ?? dirname(dirname(gitDir)));
}

function searchGitDir(folder: string): string | undefined {
  for (let at = folder, depth = 0; depth < maxDepth; at = dirname(at), depth++) {
    const entry = readEntry(join(at, ".git"));
    if (entry === "folder") return undefined;
    const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(entry ?? "") ?? [];
    if (named && isOnShare(named)) return undefined; // a stranger's file may name any path
    if (named) return /[/\\]worktrees[/\\][^/\\]+$/.test(named) ? resolve(at, named) : undefined;
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

function readEntry(path: string): string | undefined {
  try {
    return readFileNow(path, maxBytes)?.toString();
  } catch {
    return undefined;
  }
}
