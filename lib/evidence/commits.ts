import { type Commit, hashOf } from "#lib/evidence/output";

/** A commit by its hash, or by a shorter or longer form of it. */
export const findCommit = <C extends { hash: string }>(commits: readonly C[], hash: string): C | undefined =>
  commits.find((known) => known.hash.startsWith(hash) || hash.startsWith(known.hash));

/** What a further mention tells of a known commit: a longer hash replaces its abbreviation, and what was missing is filled in. */
export function joinCommits<C extends Commit>(known: C, other: Commit): C {
  const joined = { ...known, hash: other.hash.length > known.hash.length ? other.hash : known.hash };
  for (const name of ["repository", "branch", "subject"] as const)
    if (other[name] !== undefined) joined[name] ??= other[name];
  return joined;
}

/** A commit with its hash in lower case; undefined where that is none. */
export function withHash<C extends { hash: unknown }>(commit: C): (C & { hash: string }) | undefined {
  const hash = hashOf(commit.hash);
  return hash === undefined ? undefined : { ...commit, hash };
}
