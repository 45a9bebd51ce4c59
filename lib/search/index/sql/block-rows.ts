// SQL: sets of look-ups, bits and regular expressions in one snapshot.
import "server-only";
import type { PoolClient } from "pg";
import { Prisma, type SearchBlock, type SearchDocument } from "#lib/generated/prisma/client";
import type { Bucket } from "#lib/search/index/block";
import { maxDocuments, slotsWith } from "#lib/search/index/posting";

/** One bit of `slots` for each of the 4,096 slots of each block. */
export type HitBits = { blockIds: string[]; slots: Buffer };

/** `only` restricts the block to some slots, and `documents` is their number. */
export type BlockHead = Pick<SearchBlock, "bits" | "documents"> & {
  id: string;
  age: string;
  key: string;
  only?: Buffer;
};

/** After a crash, PostgreSQL may reuse an id, but not with the same sums. */
const blockKey = Prisma.raw("concat_ws(' ', id, documents, postings, version) as key");
const headColumns = Prisma.sql`id, bits, documents, coalesce(latest_id, id) as age, ${blockKey}`;

/** @param onlyProjectId excludes documents of other projects, and blocks without any of this one */
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

/** In the requested order; missing buckets are empty. */
export async function readBuckets(
  tx: PoolClient,
  userId: string,
  wanted: { id: string; bucket: number }[],
): Promise<Bucket[]> {
  const blockIds = wanted.map(({ id }) => id);
  const buckets = wanted.map(({ bucket }) => bucket);
  const { rows } = await tx.query<{ bucket: number; postings: Buffer | null }>(Prisma.sql`
    select wanted.bucket, found.postings
    from unnest(${blockIds}::bigint[], ${buckets}::int[]) with ordinality as wanted (block_id, bucket, place)
    left join lateral (select postings from search_bucket where user_id = ${userId} and block_id = wanted.block_id
      and bucket = wanted.bucket limit 1) as found on true order by place`);
  return rows.map(({ bucket, postings }) => ({ bucket, postings: postings ?? Buffer.alloc(0) }));
}

/** The end of a range is exclusive. */
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

type TraceSlot = Pick<SearchDocument, "traceId" | "slot"> & { blockId: string };

export async function readParts(tx: PoolClient, userId: string, onlyProjectId?: string): Promise<TraceSlot[]> {
  const own = onlyProjectId
    ? Prisma.sql`and trace_id in (${selectProjectTraces(userId, onlyProjectId)})`
    : Prisma.empty;
  const { rows } = await tx.query<TraceSlot>(Prisma.sql`
    select trace_id as "traceId", block_id as "blockId", slot from search_document where user_id = ${userId}
      and trace_id in (select trace_id from search_document where user_id = ${userId} and first_position > 0) ${own}`);
  return rows;
}

/** Bits are smaller than thousands of ids. */
export function isHit({ blockIds, slots }: HitBits): Prisma.Sql {
  const block = Prisma.sql`array_position(${blockIds}::bigint[], search_document.block_id) - 1`;
  return Prisma.sql`get_bit(${slots}::bytea, (${block})::bigint * ${Prisma.raw(`${maxDocuments}`)} + search_document.slot) = 1`;
}

function selectHitMessages(userId: string, hits: HitBits, max: number | null): Prisma.Sql {
  return Prisma.sql`(
      select first_position, coalesce(next_position::bigint, ${afterAll}) as next_position
      from (select *, lead(first_position) over (order by first_position) as next_position
        from search_document where user_id = ${userId} and trace_id = wanted.id) as search_document
      where ${isHit(hits)} order by first_position limit ${max}::int) as document
    cross join lateral (select * from message where user_id = ${userId} and trace_id = wanted.id
      and position >= first_position and position < next_position) as message`;
}

const afterAll = Prisma.raw(`${2 ** 31}`);
const maxInteger = Prisma.raw(`${2 ** 31 - 1}`);

const maxMetadataBytes = 64 * 1024;
export const smallMetadataSql = `case when pg_column_size(metadata) <= ${4 * maxMetadataBytes} and (
  (pg_column_compression(metadata) is null and pg_column_size(metadata) <= ${maxMetadataBytes / 8})
  or octet_length(metadata::text) <= ${maxMetadataBytes}) then metadata end as metadata`;
const smallMetadata = Prisma.raw(smallMetadataSql);

/** `position` is null for the trace's own fields; `content` is null if it was not read. */
export type Candidate = Pick<MessageText, "traceId" | "role" | "metadata"> & {
  position: number | null;
  content: string | null;
};

/** Keeps a page of fifty traces below 30 million characters. */
const maxCharactersBefore = 2 ** 19;

const charactersBefore = Prisma.raw(`coalesce(sum(length(content) + coalesce(length(metadata::text), 0))
  over (order by position rows between unbounded preceding and 1 preceding), 0)`);

type CandidateBounds = {
  maxMessages: number;
  maxCharacters: number;
  maxDocuments: number | null;
};

/** SQL: little text is transferred. */
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
           from ${selectHitMessages(userId, hits, bounds.maxDocuments)} where lower(content) ~ ${pattern}
           limit ${bounds.maxMessages}) as found) as summed)
      union all
      (select 0, null, null, null from search_document where user_id = ${userId} and trace_id = wanted.id and ${isHit(hits)}
       offset coalesce(${bounds.maxDocuments}::int, ${maxInteger}) limit 1)) as found`);
  return rows;
}

export type MessageText = {
  traceId: string;
  position: number;
  role: string | null;
  metadata: unknown;
  content: string;
  matching: number;
};

type TextBounds = {
  maxMessages: number;
  wholeCharacters: number;
  nearCharacters: number;
  word: string;
};

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
    ? selectHitMessages(userId, within.hits, within.maxDocuments)
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

export async function haveParts(tx: PoolClient, userId: string, traceIds: string[]): Promise<boolean> {
  const { rowCount } = await tx.query(Prisma.sql`
    select from search_document where user_id = ${userId} and trace_id = any(${traceIds}) and first_position > 0 limit 1`);
  return rowCount === 1;
}
