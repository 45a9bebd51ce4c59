// Reading the messages of traces for the ledger. SQL: several traces in one statement, pages bounded by bytes, and parts of
// values that are too large to be taken whole.
import "server-only";
import type { PoolClient } from "pg";
import type { LedgerMessage } from "#lib/ledger/part";

/** Below so many bytes as it is stored, metadata is not measured: that would make its text twice. */
const smallBytes = 8192;
/** What of a longer text is read, and from which size on. */
const maxBytes = 1024 * 1024;
const maxStart = 1_000_000;

/** What is left of metadata that is too large: what tells the usage, where that is not large itself. */
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

/** All messages of small traces, in their order. `limit` only bounds one that grew since it was measured. */
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

/** The messages from a position on, up to a number of rows and of bytes; one comes however large it is. */
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
