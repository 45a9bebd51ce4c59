// Reading the messages of a trace. Each statement reads nothing of a deleted trace, whose messages may not be purged yet.
import "server-only";
import { pool } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import type { Message } from "#lib/generated/prisma/client";

/** A message as it is stored, or only its start; and what all of it has. */
export type MessageRow = Omit<Message, "userId" | "traceId"> & { bytes: number };

/** The condition that trace `$2` of user `$1` is not deleted; 0.02 ms. */
const isLive = "exists (select from trace where user_id = $1 and id = $2 and deleted_at is null)";

/** A message's size in bytes. `octet_length` of a text is known without reading what is stored beside the row. */
const size = "octet_length(content) + coalesce(octet_length(metadata::text), 0)";

/** How many characters are shown of a message that is too large to be shown, and what is said of the rest. */
const maxStart = 1_000_000;
const restIsLeftOut = "[The rest of this message is too long to be shown. An export of the session has all of it.]";

/** What comes of a larger message: the start of its content and no metadata, or nothing but whether it has metadata. */
const cuts = {
  start: { content: `left(content, ${maxStart}) || e'\\n\\n${restIsLeftOut}'`, metadata: "null::jsonb" },
  none: { content: "''", metadata: "case when metadata is not null then '{}'::jsonb end" },
};

/** What adds a message's `bytes` to its columns; measured once, which takes seconds for metadata of hundreds of megabytes. */
const measured = `lateral (select ${size} as bytes offset 0) as measured`;

/** The columns of a `measured` message; of one over `max` bytes, which null allows, what `cut` leaves. */
const columnsUpTo = (max: `$${number}`, cut: keyof typeof cuts) => {
  const isWhole = `${max}::int is null or bytes <= ${max}`;
  return `position, role, token_count as "tokenCount", created_at as "createdAt", bytes,
  case when ${isWhole} then content else ${cuts[cut].content} end as content,
  case when ${isWhole} then metadata else ${cuts[cut].metadata} end as metadata`;
};

/**
 * The messages of a page, found one after the other until the rows (`$4`) or the bytes (`$5`) are used up, so that nothing is
 * read that does not fit. The page is after position `$3`, or before it where `beyond` is `<`.
 */
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

/** On which side of a position a page is; in parts, nothing comes of a message that is too large but that it is there. */
type PageSide = keyof typeof pages;

/** What bounds a page; of a message over `maxMessageBytes` the start is read; in parts nothing, for `readBytes`. */
type PageBounds = { limit: number; maxBytes: number; maxMessageBytes?: number | undefined };

/**
 * A page of messages, bounded by rows and bytes, of which one comes however large it is. SQL: Prisma can't bound a page by
 * bytes. Of 1000 messages with 256 kB of metadata each, a page of 8 MiB takes 24 ms, with a running sum over all of them 341.
 */
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

/** Some bytes of a text of a message. @property from the first byte's number, from 1. */
type ByteRange = { column: keyof typeof texts; from: number; bytes: number };

/**
 * Some bytes of a message's content, or of its metadata as JSON, in UTF-8. SQL: a part of a value. Of the characters of a text
 * PostgreSQL would count those before the part each time, which takes three times as long.
 *
 * @returns the bytes of the whole content as well, which tell whether it changed; undefined where the message is gone
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

/** The messages at some positions, until they exceed `maxBytes`; of a larger one the start. SQL: a running sum of bytes. */
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

/** A message that contains a text, with its matches, and the totals of messages and matches. */
type MatchRow = { position: number; count: number; total: string; messages: string };

/**
 * Counts the matches of a text in a trace's messages, in content and metadata, whatever its case. SQL: PostgreSQL tests the texts,
 * so that none of them travels; no index is needed, since the messages of one trace lie beside each other (figures in
 * docs/decisions/0013). `offset 0` keeps the planner from folding a text again for each use: folding is what takes the time.
 *
 * @param collation by which case is folded; by the database's without it.
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

/** Whether the server folds every letter's case: `pg_c_utf8` comes with PostgreSQL 17. SQL: it is PostgreSQL's own table. */
export async function canFoldUnicode(): Promise<boolean> {
  const { rowCount } = await pool().query(`select 1 from pg_collation where collname = 'pg_c_utf8'`);
  return rowCount === 1;
}
