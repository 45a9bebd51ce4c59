// The last release's code in a folder of its own, installed and built.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const git = async (...words: string[]) => (await run("git", words, { maxBuffer: 1 << 24 })).stdout.trim();

/** A changelog in which nothing was added since its last release, and one in which something was. */
const released = /^## Unreleased\s+^## (\d\S*)/m;
const continued = /^## Unreleased\s+(?!## )\S/m;

/**
 * The version that a checkout with this changelog is upgraded from: the last one, or the one before where the checkout is that
 * release itself.
 */
export function formerVersion(changelog: string): string | undefined {
  const versions = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, version]) => version);
  return versions[continued.test(changelog) ? 0 : 1];
}

/**
 * Finds the release to upgrade from: its tag, or else the last commit whose changelog had it, and nothing unreleased.
 *
 * @returns undefined where the history does not reach so far, as in a shallow clone
 */
export async function findRelease(): Promise<{ version: string; commit: string } | undefined> {
  const version = formerVersion(await readFile("CHANGELOG.md", "utf8"));
  if (!version) return undefined;
  const tagged = await git("rev-parse", "--quiet", "--verify", `refs/tags/v${version}^{commit}`).catch(() => "");
  if (tagged) return { version, commit: tagged };
  for (const commit of (await git("log", "--format=%H", "--", "CHANGELOG.md")).split("\n")) {
    if (released.exec(await git("show", `${commit}:CHANGELOG.md`))?.[1] === version) return { version, commit };
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
