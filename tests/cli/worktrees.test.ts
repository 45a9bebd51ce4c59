import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectRules } from "../../cli/projects/rules.ts";
import { findGitDir, findRepository } from "../../cli/projects/worktrees.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

const gitFile = (repository: string, name = "fix") => `gitdir: ${repository}/.git/worktrees/${name}\n`;

test("a folder is its repository's worktree wherever `git worktree add` made it", async () => {
  const { home } = await makeHome();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: join(home, "code/api"), stdio: "pipe" });
  await mkdir(join(home, "code/api"), { recursive: true });
  git("init", "-q");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "Begin");
  git("worktree", "add", "-q", "../api-fix");
  await mkdir(join(home, "code/api-fix/src"));
  const repository = join(home, "code/api");
  expect([findRepository(join(home, "code/api-fix")), findRepository(join(home, "code/api-fix/src"))]).toEqual([
    repository,
    repository,
  ]);
  expect([findGitDir(repository), findGitDir(join(home, "code"))]).toEqual([undefined, undefined]);
});

test("a relative path and a bare repository are known; submodules, other files and other computers are not asked", async () => {
  const { home } = await makeHome({
    "a/.git": "gitdir: ../api/.git/worktrees/a\n",
    "b/.git": "gitdir: /srv/tool.git/worktrees/b\n",
    "c/.git": "gitdir: ../.git/modules/c\n",
    "d/.git": `gitdir: ${"x".repeat(5000)}/.git/worktrees/d`,
    "e/.git": "gitdir: //host/share/.git/worktrees/e\n",
    "f/.git": "gitdir: \\\\host\\share\\.git\\worktrees\\f\n",
  });
  const found = ["a", "b", "c", "d", "e", "f"].map((name) => findRepository(join(home, name)));
  expect(found).toEqual([join(home, "api"), "/srv/tool.git", undefined, undefined, undefined, undefined]);
  for (const folder of ["//host/share/x", "\\\\host\\share", "relative"]) expect(findGitDir(folder)).toBeUndefined();
});

test("a worktree's session names its repository, and has the repository's name", async () => {
  const { home, fake, push } = await world(0);
  await writeBelow(home, "code/api-fix/.git", gitFile(`${home}/code/api`));
  await writeBelow(home, claudePath(1), toLines(...claudeLines(makeId(1), 1, { cwd: `${home}/code/api-fix` })));
  await push();
  expect(fake.uploads[0]?.traces[0]).toMatchObject({
    project: "api",
    metadata: { cwd: `${home}/code/api-fix`, gitDir: `${home}/code/api/.git/worktrees/fix` },
  });
});

test("a worktree is left out with its repository, also by the repository's own file", async () => {
  const host = await makeHome({ "code/other/.spoorignore": "" });
  for (const name of ["api", "other"])
    await writeBelow(host.home, `code/${name}-fix/.git`, gitFile(`${host.home}/code/${name}`));
  const rules = new ProjectRules(host, [{ exclude: "~/code/api" }]);
  const reason = (folder: string) => rules.findExclusion({ cwd: join(host.home, folder) });
  expect([reason("code/api-fix"), reason("code/other-fix"), reason("code/web")]).toEqual([
    { glob: "~/code/api" },
    { file: join(host.home, "code/other/.spoorignore") },
    undefined,
  ]);
});
