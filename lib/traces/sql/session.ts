// SQL: Prisma can't limit rows per trace, take locks, or append to a list.
import "server-only";
import { type Db, pool } from "#lib/db/client";
import { Prisma, type TracePullRequest } from "#lib/generated/prisma/client";

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

const maxPoints = 96;

const given = "input_tokens::bigint + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens";

export type ContextPoint = { position: number; tokens: number };

/** SQL: keeps the maximum of equal groups of requests, so that any session is a small chart. */
export async function readContext(userId: string, traceId: string): Promise<ContextPoint[]> {
  const { rows } = await pool().query<ContextPoint>(
    `select min(position) as position, max(tokens)::float8 as tokens
     from (
       select position, ${given} as tokens,
         row_number() over (order by position) - 1 as row, count(*) over () as total
       from message_usage
       where user_id = $1 and trace_id = $2 and ${given} > 0
     ) as request
     group by row * $3 / greatest(total, $3) order by min(position)`,
    [userId, traceId, maxPoints],
  );
  return rows;
}

/** The order of an upload's locks, to avoid deadlocks. */
const inOrder = Prisma.raw(`order by source collate "C", source_id collate "C" for no key update`);

export async function lockForMarks(tx: Db, userId: string, ids: string[]): Promise<void> {
  await tx.$queryRaw`
    select id from trace where user_id = ${userId}::uuid and id = any(${ids}::uuid[]) and deleted_at is null ${inOrder}`;
}

export async function addTagTo(userId: string, ids: string[], tag: string, max: number): Promise<void> {
  await pool().query(Prisma.sql`
    update trace set tags = tags || ${tag}::text, search_pending = true from (
      select id from trace where user_id = ${userId}::uuid and id = any(${ids}::uuid[]) and deleted_at is null
        and not ${tag}::text = any(tags) and cardinality(tags) < ${max} ${inOrder}) as locked
    where trace.user_id = ${userId}::uuid and trace.id = locked.id`);
}
