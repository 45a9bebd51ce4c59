// Reading the index and the texts that it leads to. All of it is SQL: sets of look-ups in one statement, bits and regular
// expressions, all in one snapshot, since blocks are merged at any time.
import "server-only";
import type { PoolClient } from "pg";
import { Prisma, type SearchBlock, type SearchDocument } from "#lib/generated/prisma/client";
import { slotsWith } from "#lib/search/bits";
import type { Bucket } from "#lib/search/block";
import { maxDocuments } from "#lib/search/posting";

/** Which documents were found: for each of `blockIds`, in their order, one bit of `slots` for each of its 4,096 slots. */
export type HitBits = { blockIds: string[]; slots: Buffer };

/**
 * A block as a search needs it. Its id and its age (lib/search/sql/write.ts) are bigints, which `pg` gives as text. `only` are the
 * slots that a search knows of, and `documents` is how many these are.
 */
export type BlockHead = Pick<SearchBlock, "bits" | "documents"> & {
  id: string;
  age: string;
  key: string;
  only?: Buffer;
};

/**
 * A block is written without waiting for the disk: after a crash of PostgreSQL its id may be given to another one, which has other
 * sums, or another version.
 */
const blockKey = Prisma.raw("concat_ws(' ', id, documents, postings, version) as key");
const headColumns = Prisma.sql`id, bits, documents, coalesce(latest_id, id) as age, ${blockKey}`;

/** A user's blocks. @param onlyProjectId leaves out the documents of other projects, and blocks that have no others */
export async function readBlockHeads(tx: PoolClient, userId: string, onlyProjectId?: string): Promise<BlockHead[]> {
  if (onlyProjectId) return readOwnHeads(tx, userId, onlyProjectId);
  const { rows } = await tx.query<BlockHead>(
    Prisma.sql`select ${headColumns} from search_block where user_id = ${userId}`,
  );
  return rows;
}

async function readOwnHeads(tx: PoolClient, userId: string, projectId: string): Promise<BlockHead[]> {
  const { rows } = await tx.query<BlockHead & { slots: number[] }>(Prisma.sql`
    select ${headColumns}, own.slots from search_block
    join (select block_id, array_agg(slot) as slots from search_document
      where user_id = ${userId} and trace_id in (${selectProjectTraces(userId, projectId)}) group by block_id) as own on own.block_id = id
    where user_id = ${userId}`);
  return rows.map(({ slots, ...head }) => ({ ...head, documents: slots.length, only: slotsWith(slots) }));
}

const selectProjectTraces = (userId: string, projectId: string): Prisma.Sql =>
  Prisma.sql`select id from trace where user_id = ${userId} and project_id = ${projectId}::uuid and deleted_at is null`;

/** The buckets in the order in which they are asked for; a missing one is empty. */
export async function readBuckets(
  tx: PoolClient,
  userId: string,
  wanted: { id: string; bucket: number }[],
): Promise<Bucket[]> {
  const blockIds = wanted.map(({ id }) => id);
  const buckets = wanted.map(({ bucket }) => bucket);
  // The limit makes it one look-up for each, whatever the planner expects of the table.
  const { rows } = await tx.query<{ bucket: number; postings: Buffer | null }>(Prisma.sql`
    select wanted.bucket, found.postings
    from unnest(${blockIds}::bigint[], ${buckets}::int[]) with ordinality as wanted (block_id, bucket, place)
    left join lateral (select postings from search_bucket where user_id = ${userId} and block_id = wanted.block_id
      and bucket = wanted.bucket limit 1) as found on true order by place`);
  return rows.map(({ bucket, postings }) => ({ bucket, postings: postings ?? Buffer.alloc(0) }));
}

/** All buckets in some ranges of numbers, each from one up to but without another. */
export async function readBucketRanges(
  tx: PoolClient,
  userId: string,
  wanted: { id: string; range: [number, number] }[],
): Promise<Buffer[]> {
  const { rows } = await tx.query<{ postings: Buffer }>(Prisma.sql`
    select postings from unnest(${wanted.map(({ id }) => id)}::bigint[], ${wanted.map(({ range }) => range[0])}::int[],
      ${wanted.map(({ range }) => range[1])}::int[]) as wanted (block_id, low, high)
    join search_bucket on user_id = ${userId} and search_bucket.block_id = wanted.block_id
      and bucket >= low and bucket < high`);
  return rows.map(({ postings }) => postings);
}

/** A document of a trace that has several. */
export type TraceSlot = Pick<SearchDocument, "traceId" | "slot"> & { blockId: string };

/** The documents of all traces so long that they have several. */
export async function readParts(tx: PoolClient, userId: string, onlyProjectId?: string): Promise<TraceSlot[]> {
  const own = onlyProjectId
    ? Prisma.sql`and trace_id in (${selectProjectTraces(userId, onlyProjectId)})`
    : Prisma.empty;
  const { rows } = await tx.query<TraceSlot>(Prisma.sql`
    select trace_id as "traceId", block_id as "blockId", slot from search_document where user_id = ${userId}
      and trace_id in (select trace_id from search_document where user_id = ${userId} and first_position > 0) ${own}`);
  return rows;
}

/** The condition that a row of `search_document` is a hit: by its bit, which travels better than thousands of ids. */
export function isHit({ blockIds, slots }: HitBits): Prisma.Sql {
  const block = Prisma.sql`array_position(${blockIds}::bigint[], search_document.block_id) - 1`;
  return Prisma.sql`get_bit(${slots}::bytea, (${block})::bigint * ${Prisma.raw(`${maxDocuments}`)} + search_document.slot) = 1`;
}

/** The messages of the first documents of the trace `wanted.id` that are hits; all its hits where `max` is null. */
function messagesOfHits(userId: string, hits: HitBits, max: number | null): Prisma.Sql {
  return Prisma.sql`(
      select first_position, coalesce(next_position::bigint, ${afterAll}) as next_position
      from (select *, lead(first_position) over (order by first_position) as next_position
        from search_document where user_id = ${userId} and trace_id = wanted.id) as search_document
      where ${isHit(hits)} order by first_position limit ${max}::int) as document
    cross join lateral (select * from message where user_id = ${userId} and trace_id = wanted.id
      and position >= first_position and position < next_position) as message`;
}

/** After every position. */
const afterAll = Prisma.raw(`${2 ** 31}`);
const maxInteger = Prisma.raw(`${2 ** 31 - 1}`);

/** Larger metadata, in bytes of its JSON, holds whole outputs. */
const maxMetadataBytes = 64 * 1024;
/**
 * A message's metadata where it is small. Its JSON is only made where its size does not tell: it has less than eight bytes for each
 * that is stored, and one of more is not looked at.
 */
export const smallMetadataSql = `case when pg_column_size(metadata) <= ${4 * maxMetadataBytes} and (
  (pg_column_compression(metadata) is null and pg_column_size(metadata) <= ${maxMetadataBytes / 8})
  or octet_length(metadata::text) <= ${maxMetadataBytes}) then metadata end as metadata`;
const smallMetadata = Prisma.raw(smallMetadataSql);

/** A text that may match: of a message, or of the trace itself where it has no position; null for what was not read. */
export type Candidate = Pick<MessageText, "traceId" | "role" | "metadata"> & {
  position: number | null;
  content: string | null;
};

/**
 * How many characters of messages and their metadata before a message, in its own trace, keep it from being read: the texts of a page of
 * fifty traces stay below 30 million, however long its messages are.
 */
const maxCharactersBefore = 2 ** 19;

/** The characters of the messages before a `found` row. */
const charactersBefore = Prisma.raw(`coalesce(sum(length(content) + coalesce(length(metadata::text), 0))
  over (order by position rows between unbounded preceding and 1 preceding), 0)`);

/** Bounds on what is read of one trace. */
export type CandidateBounds = {
  maxMessages: number;
  /** Longer messages count, but their text is not read; nor is that of messages after `maxCharactersBefore`. */
  maxCharacters: number;
  /** Of so many of its documents; of all of them without it. */
  maxDocuments: number | null;
};

/**
 * Texts of traces that a regular expression matches: title, source id and messages. PostgreSQL tests them, so that little
 * text travels; null for what was not read.
 */
export async function readCandidates(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  hits: HitBits,
  pattern: string,
  bounds: CandidateBounds,
): Promise<Candidate[]> {
  const { rows } = await tx.query(Prisma.sql`
    select wanted.id as "traceId", found.* from unnest(${traceIds}::uuid[]) as wanted (id)
    cross join lateral (
      select null::int as position, null as role, null::jsonb as metadata, named.content from trace
        cross join lateral unnest(array[coalesce(custom_title, title, derived_title), source_id, note] || tags) as named (content)
      where user_id = ${userId} and id = wanted.id and lower(named.content) ~ ${pattern}
      union all
      (select position, role, case when is_read then metadata end, case when is_read then content end
       from (select *, length(content) <= ${bounds.maxCharacters} and ${charactersBefore} < ${maxCharactersBefore} as is_read
         from (select position, role, ${smallMetadata}, content
           from ${messagesOfHits(userId, hits, bounds.maxDocuments)} where lower(content) ~ ${pattern}
           limit ${bounds.maxMessages}) as found) as summed)
      union all
      (select 0, null, null, null from search_document where user_id = ${userId} and trace_id = wanted.id and ${isHit(hits)}
       offset coalesce(${bounds.maxDocuments}::int, ${maxInteger}) limit 1)) as found`);
  return rows;
}

/** A message that matches, or the text around the match where it is long; `matching` messages of its trace do, as far as was looked. */
export type MessageText = {
  traceId: string;
  position: number;
  role: string | null;
  metadata: unknown;
  content: string;
  matching: number;
};

export type TextBounds = {
  maxMessages: number;
  /** Of a longer message, `nearCharacters` before and after the first occurrence of `word` are read. */
  wholeCharacters: number;
  nearCharacters: number;
  word: string;
};

/**
 * The messages that a regular expression matches, of traces that are not deleted: of each trace the first ones, until those have
 * `maxCharactersBefore`.
 *
 * @param within the hits and how many of their documents are read; without it, all messages are.
 */
export async function readTexts(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  pattern: string,
  bounds: TextBounds,
  within?: { hits: HitBits; maxDocuments: number },
): Promise<MessageText[]> {
  const { maxMessages, wholeCharacters, nearCharacters, word } = bounds;
  const from = within
    ? messagesOfHits(userId, within.hits, within.maxDocuments)
    : Prisma.sql`message where user_id = ${userId} and trace_id = wanted.id`;
  const { rows } = await tx.query<MessageText>(Prisma.sql`
    select wanted.id as "traceId", found.* from unnest(${traceIds}::uuid[]) with ordinality as wanted (id, place)
    join trace on trace.user_id = ${userId} and trace.id = wanted.id and trace.deleted_at is null
    cross join lateral (
      select position, role, metadata, content, matching from (
        select *, ${charactersBefore} as before, (count(*) over ())::int as matching from (
          select position, role, ${smallMetadata}, case when length(content) <= ${wholeCharacters} then content else
            substr(content, greatest(1, strpos(lower(content), ${word}) - ${nearCharacters}), ${2 * nearCharacters}) end as content
          from (select message.* from ${from}) as message
          where lower(content) ~ ${pattern} order by position limit ${maxMessages}) as found) as summed
      where before < ${maxCharactersBefore}) as found
    order by place, position`);
  return rows;
}

/** Whether any of the traces is so long that it has several documents. */
export async function haveParts(tx: PoolClient, userId: string, traceIds: string[]): Promise<boolean> {
  const { rowCount } = await tx.query(Prisma.sql`
    select from search_document where user_id = ${userId} and trace_id = any(${traceIds}) and first_position > 0 limit 1`);
  return rowCount === 1;
}
