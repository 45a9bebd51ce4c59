import { publicRemote } from "../../common/evidence/remotes.ts";
import type { Host } from "../adapters/adapter.ts";
import { runTool } from "../install/tools.ts";
import type { HeadGit } from "../originals/format.ts";

const noFetch = { GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0" };

export async function compareGit(host: Host, folder: string, known: HeadGit | null): Promise<string[]> {
  if (!known?.commit && !known?.remote && !known?.branch) return [];
  const git = async (...words: string[]) => {
    const { code, output } = await runTool(host, ["git", "-C", folder, ...words], noFetch);
    return code === 0 ? output : undefined;
  };
  const here = await git("rev-parse", "--is-inside-work-tree");
  if (here !== "true") return ["This folder is not a Git repository, but the session's was."];
  const differences: string[] = [];
  const remote = publicRemote(await git("remote", "get-url", "origin"));
  if (known.remote && normalize(remote) !== normalize(known.remote))
    differences.push(
      `The session's repository was ${publicRemote(known.remote)}; this folder's is ${remote ?? "one without a remote `origin`"}.`,
    );
  const branch = await git("symbolic-ref", "--short", "-q", "HEAD");
  if (known.branch && branch !== known.branch)
    differences.push(`The session was on the branch ${known.branch}; this folder is on ${branch || "none"}.`);
  const commit = await git("rev-parse", "HEAD");
  if (known.commit && isHash(known.commit) && commit && !commit.startsWith(known.commit))
    differences.push(await describeCommit(known.commit, commit, git));
  return differences;
}

const isHash = (text: string): boolean => /^[0-9a-f]{7,64}$/.test(text);

async function describeCommit(
  known: string,
  commit: string,
  git: (...words: string[]) => Promise<string | undefined>,
): Promise<string> {
  const [was, is] = [known.slice(0, 8), commit.slice(0, 8)];
  const isThere = (await git("cat-file", "-e", `${known}^{commit}`)) !== undefined;
  if (!isThere) return `The session ended at commit ${was}, which this clone does not have; it is at ${is}.`;
  const ahead = await git("rev-list", "--count", `${known}..${commit}`);
  const behind = await git("rev-list", "--count", `${commit}..${known}`);
  return `The session ended at commit ${was}; this folder is at ${is}, ${ahead ?? "?"} ahead and ${behind ?? "?"} behind.`;
}

/** URLs of one repository differ in user, `.git` and SSH's short form. */
const normalize = (remote: string | null | undefined): string =>
  (publicRemote(remote) ?? "")
    .replace(/^[a-z+]+:\/\/(?:[^@/]*@)?/i, "")
    .replace(/^[\w.-]+@([^:/]+):/, "$1/")
    .replace(/(?:\.git)?\/*$/, "")
    .toLowerCase();
