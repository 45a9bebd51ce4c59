import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** A worktree's `.git` is a file with one path. */
const maxBytes = 4096;
/** A session is seldom held deeper in a worktree. */
const maxDepth = 16;
const maxKnown = 1000;

const known = new Map<string, string | undefined>();

/** A path on a share of another computer is not looked up, because Windows would sign in there. */
const isOnShare = (path: string): boolean => /^[\\/]{2}/.test(path);

/**
 * The folder with the Git data of the worktree that a folder of this machine is in (`REPO/.git/worktrees/NAME`), as `git worktree
 * add` makes it anywhere; undefined for what is no worktree, or gone.
 */
export function findGitDir(folder: string): string | undefined {
  if (!isAbsolute(folder) || isOnShare(folder)) return undefined;
  if (!known.has(folder)) {
    if (known.size >= maxKnown) known.clear();
    known.set(folder, searchGitDir(folder));
  }
  return known.get(folder);
}

/** The folder of the repository that a folder is a worktree of, where `gitDirOf` finds it. */
export function findRepository(folder: string): string | undefined {
  const gitDir = findGitDir(folder);
  return gitDir && (/^(.+?)[/\\]\.git[/\\]/.exec(gitDir)?.[1] ?? dirname(dirname(gitDir)));
}

function searchGitDir(folder: string): string | undefined {
  for (let at = folder, depth = 0; depth < maxDepth; at = dirname(at), depth++) {
    const entry = readEntry(join(at, ".git"));
    if (entry === "folder") return undefined;
    const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(entry ?? "") ?? [];
    if (named && isOnShare(named)) return undefined; // a stranger's file may name any
    if (named) return /[/\\]worktrees[/\\][^/\\]+$/.test(named) ? resolve(at, named) : undefined;
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

/** The text of a small file, or that it is a folder; undefined for all else. */
function readEntry(path: string): string | undefined {
  let file: number | undefined;
  try {
    // A pipe of that name must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(file);
    if (stat.isDirectory()) return "folder";
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const buffer = Buffer.alloc(maxBytes);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, maxBytes, 0));
  } catch {
    return undefined; // there is none, or it may not be read: the folder is what its path says
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
