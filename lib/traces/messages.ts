import "server-only";
import { pool } from "#lib/db/client";
import { limits } from "#lib/limits";
import { getTrace, type Message } from "#lib/traces/queries";

type MessageRow = Omit<Message, "createdAt"> & { createdAt: Date | null };

/** How large a message is, in bytes. `octet_length` of a text is known without reading what is stored beside the row. */
const size = "octet_length(content) + coalesce(octet_length(metadata::text), 0)";

/**
 * The messages of a page, found one after the other until the rows (`$4`) or the bytes (`$5`) are used up, so that what
 * does not come is not read either: of 1000 messages with 256 kB of metadata each, a page of 8 MiB takes 24 ms, and with a
 * running sum over all of them 341 ms.
 */
const pageSql = `
  with recursive page (position, bytes, rows) as (
    (select position, (${size})::bigint, 1 from message
     where user_id = $1 and trace_id = $2 and position > $3 order by position limit 1)
    union all
    select next.position, bytes + next.size, rows + 1
    from page, lateral (
      select position, ${size} as size from message
      where user_id = $1 and trace_id = $2 and position > page.position order by position limit 1) as next
    where rows < $4 and bytes + next.size <= $5
  ), page_end as (select max(position) as position from page)
  select position, role, content, token_count as "tokenCount", created_at as "createdAt", metadata,
    exists (select 1 from message where user_id = $1 and trace_id = $2
      and position > (select position from page_end)) as "hasMore"
  from message
  where user_id = $1 and trace_id = $2 and position > $3 and position <= (select position from page_end)
  order by position`;

/** What bounds a page: the first of both that is reached. */
export type PageBounds = { limit: number; maxBytes?: number };

/**
 * A trace's messages in the order of their positions; the trace's owner must be known to be `userId`.
 *
 * @param after the position behind which to begin; -1 for the first message.
 * @param bounds.maxBytes of content and metadata; one message comes however large it is. By default what an answer may have.
 * @returns `nextAfter` is the `after` of the next page, null behind the last message.
 */
export async function readMessages(
  userId: string,
  traceId: string,
  after: number,
  { limit, maxBytes = limits.traces.messagesPageBytes }: PageBounds,
): Promise<{ messages: Message[]; nextAfter: number | null }> {
  const values = [userId, traceId, after, limit, maxBytes];
  const { rows } = await pool().query<MessageRow & { hasMore: boolean }>(pageSql, values);
  const last = rows.at(-1);
  return { messages: rows.map(presentMessage), nextAfter: last?.hasMore ? last.position : null };
}

/** A page of messages, as `readMessages`. @throws SpoorError `not_found` as `getTrace` */
export async function listMessages(
  userId: string,
  traceId: string,
  { after = -1, ...bounds }: PageBounds & { after?: number | undefined },
): Promise<{ messages: Message[]; nextAfter: number | null }> {
  await getTrace(userId, traceId);
  return readMessages(userId, traceId, after, bounds);
}

function presentMessage({ hasMore: _, createdAt, ...row }: MessageRow & { hasMore: boolean }): Message {
  return { ...row, createdAt: createdAt?.toISOString() ?? null };
}
