import "server-only";
import { pool, prisma } from "#lib/db/client";
import { limits } from "#lib/limits";
import { getTrace, type Message } from "#lib/traces/queries";

type MessageRow = Omit<Message, "createdAt"> & { createdAt: Date | null };

/** How large a message is, in bytes. `octet_length` of a text is known without reading what is stored beside the row. */
const size = "octet_length(content) + coalesce(octet_length(metadata::text), 0)";

/**
 * The messages of a page, found one after the other until the rows (`$4`) or the bytes (`$5`) are used up, so that what
 * does not come is not read either: of 1000 messages with 256 kB of metadata each, a page of 8 MiB takes 24 ms, and with a
 * running sum over all of them 341 ms. The page lies behind `$3`, or before it where `beyond` is `<`.
 */
const pageSql = (beyond: ">" | "<") => {
  const [order, last] = beyond === ">" ? ["asc", "max"] : ["desc", "min"];
  return `
  with recursive page (position, bytes, rows) as (
    (select position, (${size})::bigint, 1 from message
     where user_id = $1 and trace_id = $2 and position ${beyond} $3 order by position ${order} limit 1)
    union all
    select next.position, bytes + next.size, rows + 1
    from page, lateral (
      select position, ${size} as size from message
      where user_id = $1 and trace_id = $2 and position ${beyond} page.position order by position ${order} limit 1) as next
    where rows < $4 and bytes + next.size <= $5
  ), page_end as (select ${last}(position) as position from page)
  select position, role, content, token_count as "tokenCount", created_at as "createdAt", metadata,
    exists (select 1 from message where user_id = $1 and trace_id = $2
      and position ${beyond} (select position from page_end)) as "hasMore"
  from message
  where user_id = $1 and trace_id = $2
    and position between least($3, (select position from page_end)) and greatest($3, (select position from page_end))
    and position <> $3
  order by position`;
};

const laterSql = pageSql(">");
const earlierSql = pageSql("<");

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
  const { rows } = await pool().query<MessageRow & { hasMore: boolean }>(laterSql, values);
  const last = rows.at(-1);
  return { messages: rows.map(presentMessage), nextAfter: last?.hasMore ? last.position : null };
}

/**
 * The messages right before a position, in the order of their positions; else as `readMessages`.
 *
 * @returns `hasMore` whether there are earlier ones.
 */
export async function readEarlier(
  userId: string,
  traceId: string,
  before: number,
  { limit, maxBytes = limits.traces.messagesPageBytes }: PageBounds,
): Promise<{ messages: Message[]; hasMore: boolean }> {
  const values = [userId, traceId, before, limit, maxBytes];
  const { rows } = await pool().query<MessageRow & { hasMore: boolean }>(earlierSql, values);
  return { messages: rows.map(presentMessage), hasMore: rows[0]?.hasMore ?? false };
}

/**
 * The messages at these positions, as many of them as there are, until they have as many bytes as a page may; the trace's
 * owner must be known to be `userId`.
 */
export async function readMessagesAt(userId: string, traceId: string, positions: number[]): Promise<Message[]> {
  const { rows } = await pool().query<MessageRow>(
    `select position, role, content, token_count as "tokenCount", created_at as "createdAt", metadata
     from (select *, sum(${size}) over (order by position rows between unbounded preceding and 1 preceding) as before
       from message where user_id = $1 and trace_id = $2 and position = any($3::int[])) as wanted
     where coalesce(before, 0) < $4 order by position`,
    [userId, traceId, positions, limits.traces.messagesPageBytes],
  );
  return rows.map(presentMessage);
}

/** Counts a trace's messages before or after a position, by the primary key; the trace's owner must be known to be `userId`. */
export const countMessages = (userId: string, traceId: string, range: { before: number } | { after: number }) =>
  prisma().message.count({
    where: { userId, traceId, position: "before" in range ? { lt: range.before } : { gt: range.after } },
  });

/** A page of messages, as `readMessages`. @throws SpoorError `not_found` as `getTrace` */
export async function listMessages(
  userId: string,
  traceId: string,
  { after = -1, ...bounds }: PageBounds & { after?: number | undefined },
): Promise<{ messages: Message[]; nextAfter: number | null }> {
  await getTrace(userId, traceId);
  return readMessages(userId, traceId, after, bounds);
}

function presentMessage({ hasMore: _, createdAt, ...row }: MessageRow & { hasMore?: boolean }): Message {
  return { ...row, createdAt: createdAt?.toISOString() ?? null };
}
