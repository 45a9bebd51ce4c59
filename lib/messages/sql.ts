// Statements return nothing of a deleted trace, whose messages may not be purged yet.
import "server-only";
import { pool } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import type { Message } from "#lib/generated/prisma/client";

export type MessageRow = Omit<Message, "userId" | "traceId"> & { bytes: number };

const isLive = "exists (select from trace where user_id = $1 and id = $2 and deleted_at is null)";

/** `octet_length` does not read out-of-line values. */
const size = "octet_length(content) + coalesce(octet_length(metadata::text), 0)";

const maxStart = 1_000_000;
const restIsLeftOut = "[The rest of this message is too long to be shown. An export of the session has all of it.]";

const cuts = {
  start: { content: `left(content, ${maxStart}) || e'\\n\\n${restIsLeftOut}'`, metadata: "null::jsonb" },
  none: { content: "''", metadata: "case when metadata is not null then '{}'::jsonb end" },
};

/** Measured once, since metadata of hundreds of megabytes takes seconds. */
const measured = `lateral (select ${size} as bytes offset 0) as measured`;

const columnsUpTo = (max: `$${number}`, cut: keyof typeof cuts) => {
  const isWhole = `${max}::int is null or bytes <= ${max}`;
  return `position, role, token_count as "tokenCount", created_at as "createdAt", bytes,
  case when ${isWhole} then content else ${cuts[cut].content} end as content,
  case when ${isWhole} then metadata else ${cuts[cut].metadata} end as metadata`;
};

/** The page is after position `$3`, or before it if `beyond` is `<`; `$4` limits rows, and `$5` bytes. */
const pageSql = (beyond: ">" | "<", cut: keyof typeof cuts = "start") => {
  const [order, last] = beyond === ">" ? ["asc", "max"] : ["desc", "min"];
  return `
  with recursive page (position, bytes, rows) as (
    (select position, (${size})::bigint, 1 from message
     where user_id = $1 and trace_id = $2 and position ${beyond} $3 and ${isLive} order by position ${order} limit 1)
    union all
    select next.position, bytes + next.size, rows + 1
    from page, lateral (
      select position, ${size} as size from message
      where user_id = $1 and trace_id = $2 and position ${beyond} page.position order by position ${order} limit 1) as next
    where rows < $4 and bytes + next.size <= $5
  ), page_end as (select ${last}(position) as position from page)
  select ${columnsUpTo("$6", cut)},
    exists (select 1 from message where user_id = $1 and trace_id = $2
      and position ${beyond} (select position from page_end)) as "hasMore"
  from message, ${measured}
  where user_id = $1 and trace_id = $2
    and position between least($3, (select position from page_end)) and greatest($3, (select position from page_end))
    and position <> $3
  order by position`;
};

const pages = { after: pageSql(">"), before: pageSql("<"), "after, in parts": pageSql(">", "none") };

type PageSide = keyof typeof pages;

type PageBounds = { limit: number; maxBytes: number; maxMessageBytes?: number | undefined };

/** One message always comes. SQL: Prisma can't bound a page by bytes. */
export async function readPage(
  userId: string,
  traceId: string,
  side: PageSide,
  position: number,
  bounds: PageBounds,
): Promise<(MessageRow & { hasMore: boolean })[]> {
  const { limit, maxBytes, maxMessageBytes = null } = bounds;
  const { rows } = await pool().query(pages[side], [userId, traceId, position, limit, maxBytes, maxMessageBytes]);
  return rows;
}

const texts = { content: "content", metadata: "metadata::text" };

/** `from` counts from 1. */
type ByteRange = { column: keyof typeof texts; from: number; bytes: number };

/**
 * SQL: by bytes, since PostgreSQL would count characters from the start each time.
 * @returns also the content's size, which reveals a change; undefined if the message is gone
 */
export async function readBytes(
  userId: string,
  traceId: string,
  position: number,
  { column, from, bytes }: ByteRange,
): Promise<{ piece: Buffer; contentBytes: number } | undefined> {
  const { rows } = await pool().query<{ piece: Buffer; contentBytes: number }>(
    `select substring(convert_to(${texts[column]}, 'UTF8') from $4::int for $5::int) as piece,
       octet_length(content) as "contentBytes"
     from message where user_id = $1 and trace_id = $2 and position = $3 and ${isLive}`,
    [userId, traceId, position, from, bytes],
  );
  return rows[0];
}

/** Until they exceed `maxBytes`; of a larger one, the start. */
export async function readAt(
  userId: string,
  traceId: string,
  positions: number[],
  maxBytes: number,
): Promise<MessageRow[]> {
  const { rows } = await pool().query<MessageRow>(
    `select ${columnsUpTo("$4", "start")}
     from (select *, sum(bytes) over (order by position rows between unbounded preceding and 1 preceding) as before
       from message, ${measured} where user_id = $1 and trace_id = $2 and position = any($3::int[]) and ${isLive}) as wanted
     where coalesce(before, 0) < $4 order by position`,
    [userId, traceId, positions, maxBytes],
  );
  return rows;
}

type MatchRow = { position: number; count: number; total: string; messages: string };

/**
 * Ignores case. SQL: a trace's messages are adjacent, so no index is needed (docs/decisions/0013); `offset 0` keeps
 * the planner from folding a text for each use.
 * @param collation for folding case; the database's by default
 */
export async function findText(
  userId: string,
  traceId: string,
  text: string,
  { maxPlaces, collation }: { maxPlaces: number; collation: "C" | "pg_c_utf8" | undefined },
): Promise<MatchRow[]> {
  const folding = collation ? ` collate "${collation}"` : "";
  const statement = `with wanted as (select lower($3::text${folding}) as text),
     hit as materialized (
       select position,
         (octet_length(searched) - octet_length(replace(searched, wanted.text, ''))) / octet_length(wanted.text) as count
       from wanted cross join (
         select position, lower((content || coalesce(e'\\n' || (metadata::text), ''))${folding}) as searched
         from message where user_id = $1 and trace_id = $2 and ${isLive} offset 0) as folded
       where strpos(searched, wanted.text) > 0)
     select position, count::int, sum(count) over () as total, count(*) over () as messages
     from hit order by position limit $4`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<MatchRow>(statement, [userId, traceId, text, maxPlaces]));
  return rows;
}

/** `pg_c_utf8`, which folds all letters, comes with PostgreSQL 17. */
export async function canFoldUnicode(): Promise<boolean> {
  const { rowCount } = await pool().query(`select 1 from pg_collation where collname = 'pg_c_utf8'`);
  return rowCount === 1;
}
