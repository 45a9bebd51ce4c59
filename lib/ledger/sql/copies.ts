// SQL: many keys in one statement.
import "server-only";
import type { PoolClient } from "pg";
import { pullRequestAt } from "#common/evidence/remotes";

export type SharedRow = { traceId: string; key: string; replayed: boolean; counted: boolean };
/** `isLate`: beyond `mostAlike`, so it never counts. */
export type SharedCommit = SharedRow & { subject: string | null; isLate: boolean };

const shared = (key: string) => `one.trace_id as "traceId", one.${key} as key, one.replayed, one.counted`;
/** Not copied before copied, then the trace that began first. */
const inOrder = "order by one.replayed, trace.created_at, trace.id";

const mostAlike = 100;

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

/** A copy counts only if there is no original. SQL: any number of sessions may have a link. */
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
