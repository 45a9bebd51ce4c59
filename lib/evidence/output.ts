// What commands print that proves commits and pull requests.
import type { Act } from "#lib/evidence/commands";
import { type PullRequest, publicRemote, pullRequestAt } from "#lib/evidence/remotes";
import { plainText } from "#lib/evidence/text";

/** A commit as Git names it, its hash often abbreviated. `repository` is the URL of the remote that it was pushed to. */
export type Commit = { hash: string; repository?: string; branch?: string; subject?: string };

export type Proof = {
  commits: Commit[];
  /** The last commit of each push, and the remote that has it now. */
  pushes: { hash: string; repository: string }[];
  pullRequests: (PullRequest & { act: Act })[];
};

/** Of what one call proves, so many of each are read. */
const maxProofs = 500;
const maxSubjectChars = 200;
const maxBranchChars = 256;

/**
 * Reads what a call with these acts printed, in time that grows with its length alone. @param failed proves nothing of a shell: what
 * came before the command that failed was done
 */
export function proofIn(acts: readonly Act[], output: string, failed = false): Proof {
  const proof: Proof = { commits: [], pushes: [], pullRequests: [] };
  if (acts.includes("pull-request-tool") && !failed) {
    const opened = openedByTool(output);
    if (opened) proof.pullRequests.push({ ...opened, act: "pull-request-tool" });
  }
  if (!acts.some((act) => act !== "pull-request-tool")) return proof;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colors begin with this character
  const plain = output.replace(/\u001b\[[\d;]*m/g, "");
  const lines = plain.split(/\r?\n/).map(withoutLabel);
  if (acts.includes("git-commit")) proof.commits = commitsIn(lines);
  if (acts.includes("git-push")) proof.pushes = pushesIn(lines);
  proof.pullRequests.push(...pullRequestsIn(acts, lines));
  return proof;
}

/** A line without the label that some agents put before what a command printed, on the same line. */
const withoutLabel = (line: string): string => line.replace(/^(?:Output|Stdout|stdout): /, "");

/**
 * The commits in what Git printed: `[BRANCH HASH] SUBJECT`, for the first one of a repository `[BRANCH (root-commit) HASH] …`,
 * without a branch `[detached HEAD HASH] …` (both in Git's language).
 */
function commitsIn(lines: string[]): Commit[] {
  const commits: Commit[] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("[")) continue;
    const [, place = "", hash, subject] =
      /^\[(\S{1,256}?|[^\]]{0,40}\bHEAD\b[^\]]{0,40}?)(?: \([^)]{1,60}\)|（根提交）)? ([0-9a-f]{7,64})\](?: (.*))?$/.exec(
        line.slice(0, 1000),
      ) ?? [];
    // Only digits may as well be a process or a time in a hook's output.
    if (hash === undefined || (!/[a-f]/.test(hash) && !isStatistics(lines[index + 1]))) continue;
    const branch = branchOf(/\s/.test(place) || place === detached ? undefined : place);
    const words = plainText(subject, maxSubjectChars);
    commits.push({ hash, ...(branch && { branch }), ...(words && { subject: words }) });
    if (commits.length === maxProofs) break;
  }
  return commits;
}

/** "detached HEAD" in the one of Git's languages that has no word for HEAD in it. */
const detached = "分离头指针";

/** Whether a line is what Git prints below a commit. */
const isStatistics = (line = ""): boolean => /^ (?:\d+ \S+ |(?:Date|Author|Committer): )/.test(line);

/** A branch's name; undefined for anything that is none, such as a detached HEAD. */
export function branchOf(value: unknown): string | undefined {
  const name = plainText(value, maxBranchChars);
  return name === "HEAD" || name === "" ? undefined : name;
}

/** A hash in full or abbreviated, in lower case; undefined for anything else. */
export const hashOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[0-9a-f]{7,64}$/i.test(value) ? value.toLowerCase() : undefined;

function pushesIn(lines: string[]): Proof["pushes"] {
  const pushes: Proof["pushes"] = [];
  let remote: string | undefined;
  for (const line of lines) {
    if (pushes.length === maxProofs) break;
    if (line.startsWith("To ")) remote = /^To (\S+)$/.test(line) ? publicRemote(line.slice(3)) : undefined;
    const [, hash] = /^ [ +*] ?[0-9a-f]{7,64}\.{2,3}([0-9a-f]{7,64}) +\S+ -> \S/.exec(line) ?? [];
    if (hash && remote) pushes.push({ hash, repository: remote });
  }
  return pushes;
}

/**
 * The addresses that stand alone on a line, and nothing behind their number, as that of a comment has: a command that opens a pull
 * request prints it so, and GitLab answers a push so. Several tell nothing where one was to be opened: the call printed others, too.
 */
function pullRequestsIn(acts: readonly Act[], lines: string[]): Proof["pullRequests"] {
  const found = new Map<string, Proof["pullRequests"][number]>();
  for (const line of lines) {
    const [, remote, url] =
      /^(remote:)?\s*(https?:\/\/\S+\/(?:pull|merge_requests)\/\d{1,10})\s*$/.exec(line.slice(0, 2100)) ?? [];
    const opened = pullRequestAt(url);
    if (!opened || found.size === maxProofs) continue;
    const isMerge = opened.url.includes("/-/merge_requests/");
    if (remote && !isMerge) continue;
    const act: Act = remote ? "git-push" : isMerge ? "glab-mr-create" : "gh-pr-create";
    if (acts.includes(act) && !found.has(opened.url)) found.set(opened.url, { ...opened, act });
  }
  const all = [...found.values()];
  const printed = all.filter(({ act }) => act !== "git-push");
  return !acts.includes("several") && printed.length > 1 ? all.filter(({ act }) => act === "git-push") : all;
}

/** The pull request that a tool says it opened: under the keys of both hosts' APIs, else the first address. */
function openedByTool(output: string): PullRequest | undefined {
  const [, keyed] =
    /"(?:html_url|web_url|url)"\s*:\s*"(https?:\/\/[^"\s]{1,2048}\/(?:pull|merge_requests)\/\d{1,10})"/.exec(output) ??
    [];
  if (keyed) return pullRequestAt(keyed);
  for (const { index } of output.matchAll(/https?:\/\//g)) {
    const found = pullRequestAt(output.slice(index, index + 2048));
    if (found) return found;
  }
  return undefined;
}
