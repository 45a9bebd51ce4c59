// Commits and pull requests that several traces have. SQL: the rows of many keys at once, those of commits by the beginning that
// all forms of a hash share.
import "server-only";
import type { PoolClient } from "pg";
import { pullRequestAt } from "#lib/evidence/remotes";

/** A trace's row of what others have, too. */
export type SharedRow = { traceId: string; key: string; replayed: boolean; counted: boolean };
export type SharedCommit = SharedRow & { subject: string | null };
export type SharedPullRequest = SharedRow & { at: Date | null };

const shared = (key: string) => `one.trace_id as "traceId", one.${key} as key, one.replayed, one.counted`;
/** First what was not copied, of the trace that began first. */
const ofTraces = `join trace on trace.user_id = $1::uuid and trace.id = one.trace_id
  order by one.replayed, trace.created_at, trace.id`;

/** The commits that traces made whose hashes begin as one of these: no form of a hash has fewer characters. */
export async function readSharedCommits(tx: PoolClient, userId: string, hashes: string[]): Promise<SharedCommit[]> {
  if (hashes.length === 0) return [];
  const { rows } = await tx.query<SharedCommit>(
    `select ${shared("hash")}, one.subject from (select distinct left(hash, 7) as head from unnest($2::text[]) as given (hash)) as given
     join trace_commit one on one.user_id = $1::uuid and one.hash ~>=~ head and one.hash ~<~ (head || 'g')
       and one.evidence <> 'session-meta'
     ${ofTraces}`,
    [userId, hashes],
  );
  return rows;
}

export async function readSharedPullRequests(
  tx: PoolClient,
  userId: string,
  urls: string[],
): Promise<SharedPullRequest[]> {
  const named = [...new Set(urls)].flatMap((url) => pullRequestAt(url) ?? []);
  if (named.length === 0) return [];
  const { rows } = await tx.query<SharedPullRequest>(
    `select ${shared("url")}, one.at from unnest($2::text[], $3::int[], $4::text[]) as given (url, number, repository)
     join trace_pull_request one on one.user_id = $1::uuid and one.number = given.number
       and one.repository = given.repository and one.url = given.url
     ${ofTraces}`,
    [userId, named.map(({ url }) => url), named.map(({ number }) => number), named.map(({ repository }) => repository)],
  );
  return rows;
}

const tables = { commits: ["trace_commit", "hash"], pullRequests: ["trace_pull_request", "url"] } as const;

/** Has rows count, or no longer: each the other of what it did. */
export async function turnCounted(
  tx: PoolClient,
  userId: string,
  kind: keyof typeof tables,
  rows: SharedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const [table, key] = tables[kind];
  await tx.query(
    `update ${table} set counted = not counted
     where user_id = $1 and (trace_id, ${key}) in (select * from unnest($2::uuid[], $3::text[]))`,
    [userId, rows.map(({ traceId }) => traceId), rows.map((row) => row.key)],
  );
}
