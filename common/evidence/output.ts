import type { Act } from "#common/evidence/commands";
import { type PullRequest, publicRemote, pullRequestAt } from "#common/evidence/remotes";
import { plainText } from "#common/evidence/text";

/** The hash is often abbreviated. */
export type Commit = { hash: string; repository?: string; branch?: string; subject?: string };

export type Proof = {
  commits: Commit[];
  /** Each push's last commit and remote. */
  pushes: { hash: string; repository: string }[];
  pullRequests: (PullRequest & { act: Act })[];
};

const maxProofs = 500;
const maxSubjectChars = 200;
const maxBranchChars = 256;

/** @param failed proves nothing about a shell: commands before the failure ran */
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

/** Removes the label that some agents put before output on the same line. */
const withoutLabel = (line: string): string => line.replace(/^(?:Output|Stdout|stdout): /, "");

/** Git's languages differ in `[BRANCH (root-commit) HASH] SUBJECT` and `[detached HEAD HASH]`. */
function commitsIn(lines: string[]): Commit[] {
  const commits: Commit[] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("[")) continue;
    const [, place = "", hash, subject] =
      /^\[(\S{1,256}?|[^\]]{0,40}\bHEAD\b[^\]]{0,40}?)(?: \([^)]{1,60}\)|（根提交）)? ([0-9a-f]{7,64})\](?: (.*))?$/.exec(
        line.slice(0, 1000),
      ) ?? [];
    // Digits alone may also be a process or a time in a hook's output.
    if (hash === undefined || (!/[a-f]/.test(hash) && !isStatistics(lines[index + 1]))) continue;
    const branch = parseBranch(/\s/.test(place) || place === detached ? undefined : place);
    const words = plainText(subject, maxSubjectChars);
    commits.push({ hash, ...(branch && { branch }), ...(words && { subject: words }) });
    if (commits.length === maxProofs) break;
  }
  return commits;
}

/** One of Git's languages translates "detached HEAD" without the word HEAD. */
const detached = "分离头指针";

const isStatistics = (line = ""): boolean => /^ (?:\d+ \S+ |(?:Date|Author|Committer): )/.test(line);

export function parseBranch(value: unknown): string | undefined {
  const name = plainText(value, maxBranchChars);
  return name === "HEAD" || name === "" ? undefined : name;
}

export const parseHash = (value: unknown): string | undefined =>
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
 * Commands that open a pull request print its address on a separate line. Several addresses prove nothing if one was to
 * be opened.
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

/** Two hashes match if one is a prefix of the other. */
export const findCommit = <C extends { hash: string }>(commits: readonly C[], hash: string): C | undefined =>
  commits.find((known) => known.hash.startsWith(hash) || hash.startsWith(known.hash));

/** A longer hash replaces its abbreviation, and missing fields are filled in. */
export function joinCommits<C extends Commit>(known: C, other: Commit): C {
  const joined = { ...known, hash: other.hash.length > known.hash.length ? other.hash : known.hash };
  for (const name of ["repository", "branch", "subject"] as const)
    if (other[name] !== undefined) joined[name] ??= other[name];
  return joined;
}

export function withHash<C extends { hash: unknown }>(commit: C): (C & { hash: string }) | undefined {
  const hash = parseHash(commit.hash);
  return hash === undefined ? undefined : { ...commit, hash };
}
