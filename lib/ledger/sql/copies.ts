// Commits and pull requests that several traces have. SQL: the rows of many keys at once, those of commits by the beginning that
// all forms of a hash share.
import "server-only";
import type { PoolClient } from "pg";
import { pullRequestAt } from "#lib/evidence/remotes";

/** A trace's row of what others have, too. */
export type SharedRow = { traceId: string; key: string; replayed: boolean; counted: boolean };
/** `isLate`: so many come before it that it does not count, whatever it is. */
export type SharedCommit = SharedRow & { subject: string | null; isLate: boolean };

const shared = (key: string) => `one.trace_id as "traceId", one.${key} as key, one.replayed, one.counted`;
/** First what was not copied, of the trace that began first. */
const inOrder = "order by one.replayed, trace.created_at, trace.id";

/** Maximum commits that count of those whose hashes begin alike. A commit that more sessions copied counts in one of the first. */
const mostAlike = 100;

/** The commits that traces made whose hashes begin as one of these, the first of each beginning and later ones that still count. */
export async function readSharedCommits(tx: PoolClient, userId: string, beginnings: string[]): Promise<SharedCommit[]> {
  if (beginnings.length === 0) return [];
  const { rows } = await tx.query<SharedCommit>(
    `select "traceId", key, replayed, counted, subject, place > ${mostAlike} as "isLate" from (
       select ${shared("hash")}, one.subject,
         row_number() over (partition by head ${inOrder}, one.hash) as place
       from unnest($2::text[]) as given (head)
       join trace_commit one on one.user_id = $1::uuid and one.hash ~>=~ head and one.hash ~<~ (head || 'g')
         and one.evidence <> 'session-meta'
       join trace on trace.user_id = $1::uuid and trace.id = one.trace_id
     ) as alike where place <= ${mostAlike} or counted order by place`,
    [userId, beginnings],
  );
  return rows;
}

/**
 * The links to some pull requests that count and should not, or the other way round: of the rows of one moment the first counts, a copied
 * one where there is no other. Any number of sessions may have a link: PostgreSQL goes through them, and only these are in memory.
 */
export async function readTurnedPullRequests(tx: PoolClient, userId: string, urls: string[]): Promise<SharedRow[]> {
  const named = [...new Set(urls)].flatMap((url) => pullRequestAt(url) ?? []);
  if (named.length === 0) return [];
  const { rows } = await tx.query<SharedRow>(
    `select "traceId", key, replayed, counted from (
       select ${shared("url")}, case
         when one.replayed then row_number() over (partition by one.url ${inOrder}) = 1
         else one.at is null or row_number() over (partition by one.url, one.replayed, one.at ${inOrder}) = 1 end as counts
       from (select distinct * from unnest($2::text[], $3::int[], $4::text[])) as given (url, number, repository)
       join trace_pull_request one on one.user_id = $1::uuid and one.number = given.number
         and one.repository = given.repository and one.url = given.url
       join trace on trace.user_id = $1::uuid and trace.id = one.trace_id
     ) as linked where counted <> counts`,
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
