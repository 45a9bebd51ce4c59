// Indexes after ingest; uploads only mark the traces that they write.
import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";
import { Pauses } from "#lib/core/concurrency/pauses";
import { inSlices } from "#lib/core/concurrency/slices";
import { isOutage, postgresCode } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { freeSpace } from "#lib/db/sql/vacuum";
import { blockVersion, bucketBits, bytesPerPosting, encode } from "#lib/search/index/block";
import { Collector, type Document, type Draft } from "#lib/search/index/collect";
import { type Load, mergeBlocks } from "#lib/search/index/merge";
import {
  deleteOutdatedBlocks,
  holdNext,
  type MessageSize,
  markIndexed,
  readContents,
  readSizes,
  readWaiting,
  replaceDocuments,
  type Waiting,
  withIndexLock,
  writeBlock,
} from "#lib/search/index/sql/write";

type Batch = { traces: number; messages: number; bytes: number };

/** While idle, a batch fills a block, which merges then leave alone. */
const batches: Record<Load, Batch> = {
  idle: { traces: 4000, messages: 16_000, bytes: 16 * 2 ** 20 },
  busy: { traces: 1000, messages: 4000, bytes: 4 * 2 ** 20 },
};
const pageBytes = 2 ** 19;
const messageCharacters = 2 ** 23;
const maxMs = 60_000;

const failed = new Set<string>();
const oneByOne = new Map<string, number>();
const unreadMs = 600_000;
const unread = new Pauses({ firstMs: unreadMs, longestMs: unreadMs, maxKeys: 10_000 });

type Yield = () => Promise<void>;

/**
 * A trace stays marked until the transaction commits, so the call may be repeated or killed.
 * @param settledSeconds skips traces that changed more recently
 * @param yieldToJobs awaited before each half MiB of text
 * @returns the number of traces read; 0 if another process has locked the index
 */
export async function indexNext(
  settledSeconds = 0,
  yieldToJobs: Yield = async () => {},
  load: Load = "idle",
): Promise<number> {
  const indexed = await withIndexLock((tx) => indexBatch(tx, batches[load], settledSeconds, yieldToJobs));
  if (!indexed) return 0;
  const { userId } = indexed;
  const merged = await withIndexLock(async (tx) => {
    const held = await holdUsers(tx, [userId], false);
    return held.has(userId) ? mergeBlocks(tx, userId, load) : 0;
  });
  await freeSpace("search_bucket", (indexed.deletedPostings + (merged ?? 0)) * bytesPerPosting);
  return indexed.count;
}

async function indexBatch(tx: PoolClient, batch: Batch, settledSeconds: number, yieldToJobs: Yield) {
  const except = unread.current();
  const next = () =>
    holdNext(tx, (held) =>
      readWaiting(tx, settledSeconds, batch.traces, { users: [...held, ...failed], traces: except }),
    );
  let waiting = await next();
  if (!waiting && failed.size > 0) {
    failed.clear();
    waiting = await next();
  }
  if (!waiting) return undefined;
  const { userId } = waiting;
  const left = oneByOne.get(userId) ?? 0;
  const traces = left > 0 ? waiting.traces.slice(0, 1) : waiting.traces;
  try {
    const indexed = await indexWaiting(tx, { userId, traces }, batch, yieldToJobs);
    if (left > 1) oneByOne.set(userId, left - 1);
    else oneByOne.delete(userId);
    return indexed;
  } catch (error) {
    failed.add(userId);
    // A database error is not the trace's fault.
    if (postgresCode(error) === undefined && !isOutage(error)) leaveUnread(userId, traces, error);
    throw error;
  }
}

function leaveUnread(userId: string, traces: Waiting[], error: unknown): void {
  const [only] = traces;
  if (!only || traces.length > 1) {
    oneByOne.set(userId, traces.length);
    return;
  }
  oneByOne.delete(userId);
  log.warn({ err: error, trace: only.id }, "a session could not be indexed; it is retried later");
  unread.begin(only.id);
}

type Contents = Awaited<ReturnType<typeof readContents>>;
type WaitingTraces = NonNullable<Awaited<ReturnType<typeof readWaiting>>>;

async function indexWaiting(tx: PoolClient, waiting: WaitingTraces, batch: Batch, yieldToJobs: Yield) {
  const { userId } = waiting;
  const documents: (Document & { blockId: string })[] = [];
  const write = async (draft: Draft) => {
    const blockId = await writeDraft(tx, userId, draft);
    documents.push(...draft.documents.map((document) => ({ ...document, blockId })));
  };
  const traces = await collect(tx, userId, upTo(waiting.traces, batch.messages, getMessageCount), {
    maxBytes: batch.bytes,
    yieldToJobs,
    write,
  });
  const indexed = await markIndexed(tx, userId, traces);
  const isIndexed = new Set(indexed);
  await replaceDocuments(
    tx,
    userId,
    indexed,
    documents.filter(({ traceId }) => isIndexed.has(traceId)),
  );
  return { userId, count: traces.length, deletedPostings: await deleteOutdatedBlocks(tx, userId) };
}

async function writeDraft(tx: PoolClient, userId: string, { postings, documents, vocabulary }: Draft): Promise<string> {
  const bits = bucketBits(postings.length);
  const head = { bits, documents: documents.length, postings: postings.length, version: blockVersion };
  return writeBlock(tx, userId, head, [...encode(postings, bits), ...(await vocabulary.encode(bits))]);
}

const getMessageCount = ({ messageCount }: Waiting) => messageCount;

function upTo<T>(rows: T[], max: number, getSize: (row: T) => number): T[] {
  let sum = 0;
  const beyond = rows.findIndex((row) => {
    sum += getSize(row);
    return sum > max;
  });
  return beyond === -1 ? rows : rows.slice(0, Math.max(1, beyond));
}

async function collect(
  tx: PoolClient,
  userId: string,
  waiting: Waiting[],
  { maxBytes, yieldToJobs, write }: { maxBytes: number; yieldToJobs: Yield; write: (draft: Draft) => Promise<void> },
): Promise<Waiting[]> {
  const ids = waiting.map(({ id }) => id);
  const sizes = await readSizes(tx, userId, ids);
  const sizesByTrace = Map.groupBy(sizes, ({ traceId }) => traceId);
  const sumBytes = ({ id }: Waiting) => (sizesByTrace.get(id) ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  const traces = upTo(waiting, maxBytes, sumBytes);
  const collector = new Collector();
  let leftMs = maxMs;
  const take = async (steps: Iterator<unknown>) => {
    leftMs -= await inSlices(steps, leftMs);
    for (const draft of collector.takeFull()) await write(draft);
  };
  for (const trace of traces.filter(({ id }) => !sizesByTrace.has(id))) await take(begin(collector, trace));
  const byId = new Map(traces.map((trace) => [trace.id, trace]));
  let current: string | undefined;
  function* add({ traceId, position, content, ...said }: Contents[number]) {
    if (traceId !== current) yield* begin(collector, byId.get(traceId) as Waiting);
    current = traceId;
    yield* collector.add(traceId, position, content, said);
  }
  for (const page of splitPages(sizes.filter(({ traceId }) => byId.has(traceId)))) {
    await yieldToJobs();
    const contents = await readContents(tx, userId, [...byId.keys()], page, messageCharacters);
    await take(contents.values().flatMap(add));
  }
  for (const draft of collector.finish()) await write(draft);
  return traces;
}

const begin = (collector: Collector, { id, title, texts }: Waiting) => collector.begin(id, title, texts);

function splitPages(sizes: MessageSize[]): [MessageSize, MessageSize][] {
  const pages: [MessageSize, MessageSize][] = [];
  let bytes = 0;
  for (const size of sizes) {
    const page = pages.at(-1);
    if (page && bytes + size.bytes <= pageBytes) {
      page[1] = size;
      bytes += size.bytes;
    } else {
      pages.push([size, size]);
      bytes = size.bytes;
    }
  }
  return pages;
}
