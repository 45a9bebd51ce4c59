// Makes sessions searchable, behind ingest: an upload only marks the traces that it writes.
import "server-only";
import type { PoolClient } from "pg";
import { transaction } from "#lib/db/client";
import { bucketBits, encode } from "#lib/search/block";
import { Collector, type Draft } from "#lib/search/collect";
import { lockIndex, settings } from "#lib/search/lock";
import { mergeBlocks } from "#lib/search/merge";
import { writeBlock } from "#lib/search/store";

/** What one transaction takes, about: the last session may be larger than all of it. */
const batch = { traces: 1000, messages: 4000, bytes: 4 * 2 ** 20 };
/** How much text is held at a time, and how much of one message is searchable. */
const pageBytes = 2 ** 19;
const messageCharacters = 2 ** 23;

/**
 * Makes some of the sessions searchable that wait longest, in one transaction, and merges small blocks. Run twice, or
 * killed in between, it loses nothing: a session waits until what it is found by commits together with that it is done.
 *
 * @param settledSeconds for how long a session must have been as it is: one that grows line by line is not read at each.
 * @param giveWay is waited for before each half MiB of text, which takes the event loop some 50 ms.
 * @returns how many sessions were taken; 0 where none waits, or another process is at it.
 */
export async function indexNext(settledSeconds = 0, giveWay: GiveWay = async () => {}): Promise<number> {
  const taken = await transaction((tx) => indexBatch(tx, settledSeconds, giveWay), settings);
  if (taken.userId) {
    const { userId } = taken;
    await transaction(async (tx) => ((await lockIndex(tx)) ? mergeBlocks(tx, userId) : false), settings);
  }
  return taken.count;
}

/** Waits until something more urgent is done. */
export type GiveWay = () => Promise<void>;

type Waiting = { id: string; hash: string; title: string | null; sourceId: string; messageCount: number };

async function indexBatch(
  tx: PoolClient,
  settledSeconds: number,
  giveWay: GiveWay,
): Promise<{ userId?: string; count: number }> {
  if (!(await lockIndex(tx))) return { count: 0 };
  const userId = await longestWaiting(tx, settledSeconds);
  if (!userId) return { count: 0 };
  const { traces, drafts } = await collect(tx, userId, await waitingTraces(tx, userId, settledSeconds), giveWay);
  const blockIds: string[] = [];
  for (const { postings, documents } of drafts) {
    const bits = bucketBits(postings.length);
    const head = { bits, documents: documents.length, postings: postings.length };
    blockIds.push(await writeBlock(tx, userId, head, encode(postings, bits)));
  }
  const done = await markDone(tx, userId, traces);
  await writeDocuments(tx, userId, drafts, blockIds, new Set(done));
  return { userId, count: traces.length };
}

async function longestWaiting(tx: PoolClient, settledSeconds: number): Promise<string | undefined> {
  const { rows } = await tx.query<{ userId: string }>(
    `select user_id as "userId" from trace
     where search_pending and deleted_at is null and stored_at <= now() - make_interval(secs => $1)
     group by user_id order by min(stored_at) limit 1`,
    [settledSeconds],
  );
  return rows[0]?.userId;
}

async function waitingTraces(tx: PoolClient, userId: string, settledSeconds: number): Promise<Waiting[]> {
  const { rows } = await tx.query<Waiting>(
    `select id, encode(content_hash, 'base64') as hash, title, source_id as "sourceId", message_count as "messageCount"
     from trace where user_id = $1 and search_pending and deleted_at is null
       and stored_at <= now() - make_interval(secs => $3) order by stored_at limit $2`,
    [userId, batch.traces, settledSeconds],
  );
  return upTo(rows, batch.messages, ({ messageCount }) => messageCount);
}

/** The first of some rows, as many as stay within a sum, and at least one. */
function upTo<T>(rows: T[], max: number, sizeOf: (row: T) => number): T[] {
  let sum = 0;
  const beyond = rows.findIndex((row) => {
    sum += sizeOf(row);
    return sum > max;
  });
  return beyond === -1 ? rows : rows.slice(0, Math.max(1, beyond));
}

type Size = { traceId: string; position: number; bytes: number };

/** Reads the messages of as many of the traces as a batch may have, and collects their terms. */
async function collect(
  tx: PoolClient,
  userId: string,
  waiting: Waiting[],
  giveWay: GiveWay,
): Promise<{ traces: Waiting[]; drafts: Draft[] }> {
  const { rows: sizes } = await tx.query<Size>(
    `select trace_id as "traceId", position, octet_length(content) as bytes from message
     where user_id = $1 and trace_id = any($2) order by trace_id, position`,
    [userId, waiting.map(({ id }) => id)],
  );
  const bytesOf = Map.groupBy(sizes, ({ traceId }) => traceId);
  const sum = ({ id }: Waiting) => (bytesOf.get(id) ?? []).reduce((all, { bytes }) => all + bytes, 0);
  const traces = upTo(waiting, batch.bytes, sum);
  const collector = new Collector();
  for (const trace of traces.filter(({ id }) => !bytesOf.has(id))) begin(collector, trace);
  const byId = new Map(traces.map((trace) => [trace.id, trace]));
  let current: string | undefined;
  for (const page of pagesOf(sizes.filter(({ traceId }) => byId.has(traceId)))) {
    await giveWay();
    for (const { traceId, position, content } of await readPage(tx, userId, [...byId.keys()], page)) {
      if (traceId !== current) begin(collector, byId.get(traceId) as Waiting);
      current = traceId;
      collector.add(traceId, position, content);
    }
  }
  return { traces, drafts: collector.finish() };
}

const begin = (collector: Collector, { id, title, sourceId }: Waiting) =>
  collector.begin(id, title ? [title, sourceId] : [sourceId]);

/** The first and the last message of each page of about half a MiB. */
function pagesOf(sizes: Size[]): [Size, Size][] {
  const pages: [Size, Size][] = [];
  let bytes = 0;
  for (const size of sizes) {
    const page = pages.at(-1);
    if (page && bytes + size.bytes <= pageBytes) page[1] = size;
    else pages.push([size, size]);
    bytes = page && pages.at(-1) === page ? bytes + size.bytes : size.bytes;
  }
  return pages;
}

type Text = { traceId: string; position: number; content: string };

async function readPage(tx: PoolClient, userId: string, traceIds: string[], [first, last]: [Size, Size]) {
  const { rows } = await tx.query<Text>(
    `select trace_id as "traceId", position, left(content, $7) as content from message
     where user_id = $1 and trace_id = any($2) and (trace_id, position) >= ($3, $4) and (trace_id, position) <= ($5, $6)
     order by trace_id, position`,
    [userId, traceIds, first.traceId, first.position, last.traceId, last.position, messageCharacters],
  );
  return rows;
}

/**
 * Marks the traces that are still what was read. One that an upload holds or has changed meanwhile goes on waiting; none
 * is waited for, so that ingest and indexing never stand in each other's way.
 */
async function markDone(tx: PoolClient, userId: string, traces: Waiting[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update trace set search_pending = false from (
       select trace.id from unnest($2::uuid[], $3::text[]) as given (id, hash) join trace using (id)
       where user_id = $1 and content_hash = decode(hash, 'base64') and deleted_at is null
       for update of trace skip locked) as same
     where trace.user_id = $1 and trace.id = same.id returning trace.id`,
    [userId, traces.map(({ id }) => id), traces.map(({ hash }) => hash)],
  );
  return rows.map(({ id }) => id);
}

async function writeDocuments(
  tx: PoolClient,
  userId: string,
  drafts: Draft[],
  blockIds: string[],
  done: Set<string>,
): Promise<void> {
  await tx.query("delete from search_document where user_id = $1 and trace_id = any($2)", [userId, [...done]]);
  const documents = drafts
    .flatMap(({ documents }, place) => documents.map((document) => ({ ...document, blockId: blockIds[place] })))
    .filter(({ traceId }) => done.has(traceId));
  await tx.query(
    `insert into search_document (user_id, trace_id, first_position, block_id, slot)
     select $1, * from unnest($2::uuid[], $3::int[], $4::bigint[], $5::smallint[])`,
    [
      userId,
      documents.map(({ traceId }) => traceId),
      documents.map(({ firstPosition }) => firstPosition),
      documents.map(({ blockId }) => blockId),
      documents.map(({ slot }) => slot),
    ],
  );
}
