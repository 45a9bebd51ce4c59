// SQL: pages bounded by bytes, and parts of oversized values.
import "server-only";
import type { PoolClient } from "pg";
import type { LedgerMessage } from "#lib/ledger/part";

/** Smaller stored metadata is not measured, which would convert it to text twice. */
const smallBytes = 8192;
/** Size above which only a part of a text is read. */
const maxBytes = 1024 * 1024;
const maxStart = 1_000_000;

const needed = [
  "usage",
  "copiedUsage",
  "model",
  "requestId",
  "uuid",
  "costUsd",
  "serviceTier",
  "branch",
  "speed",
  "webSearches",
  "replayed",
];
const kept = `(select jsonb_object_agg(key, value) from jsonb_each(metadata)
  where key in (${needed.map((name) => `'${name}'`).join(", ")}) and pg_column_size(value) < ${smallBytes})`;

const columns = `message.position, role, token_count as "tokenCount", message.created_at as "createdAt",
  case when octet_length(content) <= ${maxBytes} then content else left(content, ${maxStart}) end as content,
  case when pg_column_size(metadata) <= ${smallBytes} then metadata
    when octet_length(metadata::text) <= ${maxBytes} then metadata else ${kept} end as metadata`;

/** `limit` only bounds a trace that grew since it was measured. */
export async function readWhole(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  limit: number,
): Promise<(LedgerMessage & { traceId: string })[]> {
  const { rows } = await tx.query<LedgerMessage & { traceId: string }>(
    `select due.id as "traceId", read.* from unnest($2::uuid[]) with ordinality as due (id, place)
     cross join lateral (
       select ${columns} from message where message.user_id = $1 and message.trace_id = due.id order by position limit $3
     ) as read order by place, read.position`,
    [userId, traceIds, limit],
  );
  return rows;
}

/** Bounded by rows and bytes; one message always comes. */
export async function readFrom(
  tx: PoolClient,
  userId: string,
  traceId: string,
  from: number,
  bounds: { rows: number; bytes: number },
): Promise<LedgerMessage[]> {
  const size = "octet_length(content) + coalesce(pg_column_size(metadata), 0)";
  const { rows } = await tx.query<LedgerMessage>(
    `with recursive page (position, bytes, rows) as (
       (select position, (${size})::bigint, 1 from message
        where message.user_id = $1 and trace_id = $2 and position >= $3 order by position limit 1)
       union all
       select next.position, bytes + next.size, rows + 1 from page, lateral (
         select position, ${size} as size from message
         where message.user_id = $1 and trace_id = $2 and position > page.position order by position limit 1) as next
       where rows < $4 and bytes + next.size <= $5
     )
     select ${columns} from message
     where message.user_id = $1 and trace_id = $2 and position between $3 and (select max(position) from page)
     order by position`,
    [userId, traceId, from, bounds.rows, bounds.bytes],
  );
  return rows;
}
