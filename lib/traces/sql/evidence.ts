// SQL: Prisma can't limit rows per trace.
import "server-only";
import { pool } from "#lib/db/client";
import type { TracePullRequest } from "#lib/generated/prisma/client";

type ListedPullRequest = Pick<TracePullRequest, "traceId" | "number" | "repository" | "url">;

/** In the order in which they were opened. */
export async function readPullRequests(userId: string, traceIds: string[], max: number): Promise<ListedPullRequest[]> {
  const { rows } = await pool().query<ListedPullRequest>(
    `select listed.id as "traceId", number, repository, url from unnest($2::uuid[]) as listed (id)
     cross join lateral (
       select number, repository, url, position from trace_pull_request
       where user_id = $1::uuid and trace_id = listed.id and counted order by position nulls last, url limit $3) as pull_request
     order by listed.id, position nulls last, url`,
    [userId, traceIds, max],
  );
  return rows;
}

export async function readBranches(userId: string, traceIds: string[]): Promise<Map<string, string>> {
  const { rows } = await pool().query<{ id: string; branch: string }>(
    `select listed.id, branch from unnest($2::uuid[]) as listed (id)
     cross join lateral (
       select branch from trace_branch where user_id = $1::uuid and trace_id = listed.id
       order by position desc nulls last, branch limit 1) as last`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, branch }) => [id, branch]));
}
