import { type Commit, parseHash } from "#common/evidence/output";

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
