import { dirname, isAbsolute, join, resolve } from "node:path";
import { publicRemote } from "../../common/evidence/remotes.ts";
import { readFileNow } from "../files/byte-reader.ts";
import type { HeadGit } from "./format.ts";

const maxFileBytes = 4 * 1024 * 1024;
const maxDepth = 32;

/** Doesn't run Git, because its settings could start programs. */
export function readGit(folder: string): HeadGit | null {
  const gitDir = findGitDir(folder);
  if (!gitDir) return null;
  const common = resolve(gitDir, readText(join(gitDir, "commondir"))?.trim() ?? ".");
  const head = readText(join(gitDir, "HEAD"))?.trim() ?? "";
  const [, ref] = /^ref: (refs\/\S+)$/.exec(head) ?? [];
  const commit = ref === undefined ? head : readRef(common, ref);
  return {
    remote: publicRemote(readOrigin(readText(join(common, "config")) ?? "")) ?? null,
    branch: ref?.replace(/^refs\/heads\//, "") ?? null,
    commit: commit && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null,
  };
}

function findGitDir(folder: string): string | undefined {
  // Windows would sign in to the computer of a shared path.
  if (!isAbsolute(folder) || /^[\\/]{2}/.test(folder)) return undefined;
  for (let at = folder, depth = 0; depth < maxDepth; at = dirname(at), depth++) {
    const path = join(at, ".git");
    const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(readText(path) ?? "") ?? [];
    if (named !== undefined) return /^[\\/]{2}/.test(named) ? undefined : resolve(at, named);
    if (readText(join(path, "HEAD")) !== undefined) return path;
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

function readRef(common: string, ref: string): string | undefined {
  if (ref.split("/").includes("..")) return undefined;
  const loose = readText(join(common, ref))?.trim();
  if (loose !== undefined) return loose;
  const line = (readText(join(common, "packed-refs")) ?? "").split("\n").find((one) => one.endsWith(` ${ref}`));
  return line?.split(" ")[0];
}

function readOrigin(config: string): string | undefined {
  const [, section] = /^\s*\[remote "origin"\]\s*$([\s\S]*?)(?=^\s*\[|(?![\s\S]))/m.exec(config) ?? [];
  return /^\s*url\s*=\s*(.+?)\s*$/m.exec(section ?? "")?.[1];
}

function readText(path: string): string | undefined {
  try {
    const found = readFileNow(path, maxFileBytes);
    return Buffer.isBuffer(found) ? found.toString() : undefined;
  } catch {
    return undefined;
  }
}
