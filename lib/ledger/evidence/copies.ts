import "server-only";
import type { PoolClient } from "pg";
import {
  readSharedCommits,
  readTurnedPullRequests,
  type SharedCommit,
  type SharedRow,
  turnCounted,
} from "#lib/ledger/sql/copies";
import type { ChangedKeys } from "#lib/ledger/sql/evidence";

/** Commits count once. A pull request counts in each session that links it, but once among copies of a message. */
export async function settleEvidence(tx: PoolClient, userId: string, changed: ChangedKeys): Promise<void> {
  const beginnings = [...new Set(changed.commits.map((hash) => hash.slice(0, shortestHash)))];
  for (let at = 0; at < beginnings.length; at += beginningsAtOnce) {
    const commits = await readSharedCommits(tx, userId, beginnings.slice(at, at + beginningsAtOnce));
    await turnCounted(tx, userId, "commits", turned(commits, countedCommits(commits.filter(({ isLate }) => !isLate))));
  }
  await turnCounted(tx, userId, "pullRequests", await readTurnedPullRequests(tx, userId, changed.pullRequests));
}

/** Git abbreviates no hash further; also the number of prefixes settled at once, to bound memory. */
const shortestHash = 7;
const beginningsAtOnce = 2000;

const turned = <R extends SharedRow>(rows: R[], counted: Set<R>) =>
  rows.filter((row) => row.counted !== counted.has(row));

/**
 * Linear in the number of rows: a member may send any number of equal prefixes, so only complete stored hashes are
 * compared.
 */
export function countedCommits<Row extends Pick<SharedCommit, "key" | "subject">>(rows: Row[]): Set<Row> {
  const counted = new Set<Row>();
  const hashes = new Set(rows.map(({ key }) => key));
  const lengths = [...new Set(rows.map(({ key }) => key.length))];
  const subjectsByHash = new Map<string, Set<string | null>>();
  const subjectsByPrefix = new Map<string, Set<string | null>>();
  for (const row of rows) {
    const beginnings = lengths
      .filter((length) => length <= row.key.length)
      .map((length) => row.key.slice(0, length))
      .filter((one) => hashes.has(one));
    const related = [subjectsByPrefix.get(row.key), ...beginnings.map((one) => subjectsByHash.get(one))];
    if (related.some((subjects) => subjects && isAgreed(subjects, row.subject))) continue;
    counted.add(row);
    addTo(subjectsByHash, row.key, row.subject);
    for (const one of beginnings) addTo(subjectsByPrefix, one, row.subject);
  }
  return counted;
}

const isAgreed = (subjects: Set<string | null>, subject: string | null) =>
  subject === null || subjects.has(null) || subjects.has(subject);

function addTo(subjects: Map<string, Set<string | null>>, key: string, subject: string | null): void {
  const known = subjects.get(key);
  if (known) known.add(subject);
  else subjects.set(key, new Set([subject]));
}
