// The last release's code in a folder of its own, installed and built.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const git = async (...words: string[]) => (await run("git", words, { maxBuffer: 1 << 24 })).stdout.trim();

/** A changelog in which nothing was added since its last release. */
const released = /^## Unreleased\s+^## (\S+)/m;

/**
 * Finds the last release: the tag of the changelog's last version, or else the last commit whose changelog had nothing
 * unreleased.
 *
 * @returns undefined where the history does not reach so far, as in a shallow clone
 */
export async function findRelease(): Promise<{ version: string; commit: string } | undefined> {
  const [, latest] = /^## (\d\S*)/m.exec(await readFile("CHANGELOG.md", "utf8")) ?? [];
  const tagged = await git("rev-parse", "--quiet", "--verify", `refs/tags/v${latest}^{commit}`).catch(() => "");
  if (latest && tagged) return { version: latest, commit: tagged };
  for (const commit of (await git("log", "--format=%H", "--", "CHANGELOG.md")).split("\n")) {
    const [, version] = released.exec(await git("show", `${commit}:CHANGELOG.md`)) ?? [];
    if (version) return { version, commit };
  }
  return undefined;
}

/** Checks a commit out with its dependencies. `remove` deletes it. */
export async function checkOut(commit: string): Promise<{ folder: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), "spoor-release-"));
  const folder = join(parent, "spoor");
  await git("worktree", "add", "--detach", folder, commit);
  const remove = async () => {
    await git("worktree", "remove", "--force", folder).catch(() => {});
    await rm(parent, { recursive: true, force: true });
  };
  try {
    const lock = (of: string) => readFile(join(of, "package-lock.json"), "utf8");
    if ((await lock(folder)) === (await lock("."))) {
      await cp("node_modules", join(folder, "node_modules"), { recursive: true, verbatimSymlinks: true });
      await run("npx", ["prisma", "generate"], { cwd: folder });
    } else {
      await run("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder, maxBuffer: 1 << 26 });
    }
    await run("npm", ["run", "build"], { cwd: folder, maxBuffer: 1 << 26 });
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
