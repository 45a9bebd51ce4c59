import "server-only";
import type { PoolClient } from "pg";
import {
  readSharedCommits,
  readSharedPullRequests,
  type SharedCommit,
  type SharedPullRequest,
  type SharedRow,
  turnCounted,
} from "#lib/ledger/sql/copies";
import type { ChangedKeys } from "#lib/ledger/sql/evidence";

/**
 * Decides which of the rows of the same commits and pull requests count. Of a commit one does: it was made once. Of a pull request
 * each session's own link does, and where copies have the message that proves it, one of them.
 */
export async function settleEvidence(tx: PoolClient, userId: string, changed: ChangedKeys): Promise<void> {
  const commits = await readSharedCommits(tx, userId, changed.commits);
  await turnCounted(tx, userId, "commits", turned(commits, countedCommits(commits)));
  const pullRequests = await readSharedPullRequests(tx, userId, changed.pullRequests);
  await turnCounted(tx, userId, "pullRequests", turned(pullRequests, countedPullRequests(pullRequests)));
}

const turned = <R extends SharedRow>(rows: R[], counted: Set<R>) =>
  rows.filter((row) => row.counted !== counted.has(row));

/** The first row of each commit. One hash may be an abbreviation of the other; those of two commits may begin alike. */
export function countedCommits(rows: SharedCommit[]): Set<SharedCommit> {
  const firsts: SharedCommit[] = [];
  for (const row of rows) if (!firsts.some((first) => isSameCommit(first, row))) firsts.push(row);
  return new Set(firsts);
}

const isSameCommit = (one: SharedCommit, other: SharedCommit) =>
  (one.key.startsWith(other.key) || other.key.startsWith(one.key)) &&
  (one.subject === null || other.subject === null || one.subject === other.subject);

/** Of each pull request the rows of different moments, and a copied one where there is no other. */
export function countedPullRequests(rows: SharedPullRequest[]): Set<SharedPullRequest> {
  const counted = new Set<SharedPullRequest>();
  const seen = new Set<string>();
  for (const row of rows) {
    const moment = row.at && !row.replayed ? `${row.at.getTime()} ${row.key}` : undefined;
    const isKnown = row.replayed ? seen.has(row.key) : moment !== undefined && seen.has(moment);
    seen.add(row.key);
    if (moment) seen.add(moment);
    if (!isKnown) counted.add(row);
  }
  return counted;
}
