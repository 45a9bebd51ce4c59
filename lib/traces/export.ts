import "server-only";
import { beginExport } from "#lib/db/heavy";
import { log } from "#lib/log";
import { parseQuery } from "#lib/search/query";
import { streamOf } from "#lib/streams";
import { readMessagesInTurn } from "#lib/traces/messages";
import { readTraceRows, type TraceRow } from "#lib/traces/queries";
import type { Place, Selection } from "#lib/traces/sql/conditions";

/** How much is held in memory at a time; a trace may have 256 KiB of metadata. */
const messagePage = { limit: 500, maxBytes: 1024 * 1024 };
const tracesPerPage = 20;
/** How often the list is read again from its top for traces that moved there meanwhile; each time there are fewer. */
const maxPasses = 10;

/**
 * A user's traces as JSON lines, newest activity first: each line one trace with its messages, in the form that
 * `POST /api/ingest` takes. Each comes once; one that grows meanwhile, and so moves to the top of the list, comes at the end.
 * Pages of about a MiB are read as the client consumes them, and no connection is held between two. Memory does not depend on
 * the size of a trace; each trace adds an id.
 * Where the database fails, or a trace is deleted while its line is sent, the connection breaks: a truncated line is never valid
 * JSON.
 *
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `beginExport`, before anything is sent.
 */
export async function exportTraces(userId: string, selection: Selection): Promise<ReadableStream<Uint8Array>> {
  if (selection.q !== undefined) parseQuery(selection.q);
  return exportStream(userId, encoded(exportParts(userId, selection)));
}

/** What an export takes, for people; without the filter's words, which may say what the sessions are about. */
export function describeSelection({ ids, ...filter }: Selection): string {
  if (ids && ids.length > 0) return ids.length === 1 ? "1 chosen session" : `${ids.length} chosen sessions`;
  return Object.values(filter).some((value) => value !== undefined) ? "those that match a filter" : "all";
}

/** One trace in the same form; `trace` must be of `userId`. @throws SpoorError `overloaded` as `beginExport` */
export function exportTrace(userId: string, trace: TraceRow): Promise<ReadableStream<Uint8Array>> {
  return exportStream(userId, encoded(traceParts(userId, trace)));
}

/**
 * Counts as one of the user's exports until the stream has ended. The first chunk is made before anything is sent, so that a
 * list that takes too long still gets its status.
 *
 * @throws SpoorError `overloaded` as `beginExport`, and what the first chunk throws
 */
export async function exportStream(
  userId: string,
  chunks: AsyncGenerator<Uint8Array, undefined>,
): Promise<ReadableStream<Uint8Array>> {
  const end = await beginExport(userId);
  try {
    const resumed = resume(await chunks.next(), chunks);
    return streamOf(resumed, (error) => log.warn({ err: error }, "an export failed"), end);
  } catch (error) {
    end();
    throw error;
  }
}

async function* resume<T>(first: IteratorResult<T, undefined>, rest: AsyncGenerator<T, undefined>) {
  if (first.done) return undefined;
  yield first.value;
  return yield* rest;
}

async function* encoded(texts: AsyncGenerator<string>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

async function* exportParts(userId: string, selection: Selection): AsyncGenerator<string, undefined> {
  const sent = new Set<string>();
  let top: TraceRow | undefined;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const sentBefore = sent.size;
    let first: TraceRow | undefined;
    for await (const row of rowsAbove(userId, selection, top)) {
      first ??= row;
      if (sent.has(row.id)) continue;
      sent.add(row.id);
      yield* traceParts(userId, row);
    }
    if (sent.size === sentBefore) return;
    top = first;
  }
}

/** The rows of the list from its top down to `end`; all of them without it. */
async function* rowsAbove(userId: string, selection: Selection, end: TraceRow | undefined): AsyncGenerator<TraceRow> {
  let after: Place | undefined;
  for (;;) {
    const rows = await readTraceRows(userId, selection, { after, limit: tracesPerPage, patience: "wait" });
    for (const row of rows) {
      if (end && !isAbove(row, end)) return;
      yield row;
      after = row;
    }
    if (rows.length < tracesPerPage) return;
  }
}

function isAbove(one: TraceRow, other: TraceRow): boolean {
  const later = one.activityAt.getTime() - other.activityAt.getTime();
  return later > 0 || (later === 0 && one.id > other.id);
}

async function* traceParts(userId: string, row: TraceRow): AsyncGenerator<string, undefined> {
  yield opening(row);
  yield* messageParts(userId, row);
  yield "]}\n";
}

/** A trace's line up to its messages. Without the derived title, which would be ingested as one that the client sent. */
function opening({ sourceId, source, model, title, project, createdAt, metadata }: TraceRow): string {
  const sent = { sourceId, source, ...present({ model, title, project, createdAt, metadata }) };
  return `${JSON.stringify(sent).slice(0, -1)},"messages":[`;
}

/** @throws where messages are missing: a part of a trace must not pass for the whole */
async function* messageParts(userId: string, { id, messageCount }: TraceRow): AsyncGenerator<string> {
  let sent = 0;
  let after: number | null = -1;
  while (after !== null) {
    const page = await readMessagesInTurn(userId, id, after, messagePage);
    const lines = page.messages.map((message) => JSON.stringify(present(message)));
    if (lines.length > 0) yield (sent === 0 ? "" : ",") + lines.join(",");
    sent += lines.length;
    after = page.nextAfter;
  }
  if (sent < messageCount) throw new Error("a trace was deleted or shortened while it was exported");
}

/** The fields that are not null. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
